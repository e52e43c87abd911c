/**
 * Whole networks as commands are asked for them: {@code mlp} with its widths, or a model's file.
 */
package dev.warpwright.cli.networks;
