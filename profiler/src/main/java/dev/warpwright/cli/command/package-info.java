/** What all commands have in common: options, requests, exit codes, {@code KEY=VALUE}. */
@NullMarked
package dev.warpwright.cli.command;

import org.jspecify.annotations.NullMarked;
