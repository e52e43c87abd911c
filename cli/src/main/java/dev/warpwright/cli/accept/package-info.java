/**
 * The {@code accept} command: the acceptance figures that can run on this machine, pass or fail
 * each.
 */
@NullMarked
package dev.warpwright.cli.accept;

import org.jspecify.annotations.NullMarked;
