/**
 * Puts a grid kernel together: its statements as nodes that warps execute, and what a SM must have
 * for it.
 */
@NullMarked
package dev.warpwright.sim.grid;

import org.jspecify.annotations.NullMarked;
