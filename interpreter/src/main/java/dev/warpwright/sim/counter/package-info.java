/** Counts what warps ask of the memories: requests, bank conflicts, sectors, caches. */
@NullMarked
package dev.warpwright.sim.counter;

import org.jspecify.annotations.NullMarked;
