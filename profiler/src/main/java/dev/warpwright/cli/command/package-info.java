/** What all commands have in common: options, requests, exit codes, {@code KEY=VALUE}. */
package dev.warpwright.cli.command;
