/**
 * Puts a grid kernel together: its statements as nodes that warps execute, and what a SM must have
 * for it.
 */
package dev.warpwright.sim.grid;
