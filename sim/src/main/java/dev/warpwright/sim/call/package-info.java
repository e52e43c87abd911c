/**
 * Calls of intrinsics in a grid kernel, as closures: what a thread, a warp or a unit beside them
 * does.
 */
@NullMarked
package dev.warpwright.sim.call;

import org.jspecify.annotations.NullMarked;
