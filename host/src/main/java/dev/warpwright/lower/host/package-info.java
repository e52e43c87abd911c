/**
 * Lowers programs to host kernels, which the JVM back end compiles.
 *
 * <p>The passes, in order: {@link dev.warpwright.lower.pass.LowerBlocks} (blocks to loops), tile
 * statements to loops ({@link dev.warpwright.lower.host.HostLowering}), {@link
 * dev.warpwright.lower.pass.ExpandMath} (functions to polynomials), {@link
 * dev.warpwright.lower.pass.VectorizeLoops}, {@link dev.warpwright.lower.pass.UnrollLoops},
 * simplification.
 */
package dev.warpwright.lower.host;
