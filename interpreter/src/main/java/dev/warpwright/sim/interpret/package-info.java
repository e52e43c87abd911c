/**
 * The reference interpreter: statements that one thread executes in order, tile statements, and the
 * pipes and roles of tile programs.
 */
package dev.warpwright.sim.interpret;
