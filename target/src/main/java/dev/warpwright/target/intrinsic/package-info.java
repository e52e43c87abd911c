/**
 * The intrinsics of the targets: for each its operands, its CUDA text and its meaning in Java, side
 * by side, so that what is printed and what is simulated cannot drift apart.
 */
@NullMarked
package dev.warpwright.target.intrinsic;

import org.jspecify.annotations.NullMarked;
