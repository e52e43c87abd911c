/**
 * The reference interpreter: statements that one thread executes in order, tile statements, and the
 * pipes and roles of tile programs.
 */
@NullMarked
package dev.warpwright.sim.interpret;

import org.jspecify.annotations.NullMarked;
