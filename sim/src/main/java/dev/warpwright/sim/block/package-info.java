/**
 * A grid in execution: clusters, blocks and warps, the barriers at which they wait, and the units
 * that work beside them.
 */
@NullMarked
package dev.warpwright.sim.block;

import org.jspecify.annotations.NullMarked;
