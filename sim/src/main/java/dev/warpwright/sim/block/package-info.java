/**
 * A grid in execution: clusters, blocks and warps, the barriers at which they wait, and the units
 * that work beside them.
 */
package dev.warpwright.sim.block;
