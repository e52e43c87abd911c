/** {@code kernel}, {@code check} and {@code export}: kernels as text. */
@NullMarked
package dev.warpwright.cli.kernels;

import org.jspecify.annotations.NullMarked;
