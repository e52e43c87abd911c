/**
 * Lowering of programs of plain loops, some of them bound to block and thread indices, to grid
 * kernels. {@link dev.warpwright.lower.simt.SimtLowering} states the order of the passes and why
 * each stands where it stands.
 */
@NullMarked
package dev.warpwright.lower.simt;

import org.jspecify.annotations.NullMarked;
