/** {@code kernel} and {@code check}: kernels as text. */
@NullMarked
package dev.warpwright.cli.kernels;

import org.jspecify.annotations.NullMarked;
