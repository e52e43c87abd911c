/** Counts what warps ask of the memories: requests, bank conflicts, sectors, caches. */
package dev.warpwright.sim.counter;
