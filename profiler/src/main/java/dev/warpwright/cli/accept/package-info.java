/**
 * The {@code accept} command: the acceptance figures that can run on this machine, pass or fail
 * each.
 */
package dev.warpwright.cli.accept;
