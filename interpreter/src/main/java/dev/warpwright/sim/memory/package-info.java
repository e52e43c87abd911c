/**
 * Bytes of memory and what is known of them: shadows, races, and the clocks of those who access
 * memory. Knows who accesses only as {@link dev.warpwright.sim.memory.Accessor}.
 */
package dev.warpwright.sim.memory;
