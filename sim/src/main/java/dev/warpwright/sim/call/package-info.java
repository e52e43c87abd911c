/**
 * Calls of intrinsics in a grid kernel, as closures: what a thread, a warp or a unit beside them
 * does.
 */
package dev.warpwright.sim.call;
