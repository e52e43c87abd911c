/**
 * Passes over tile programs, whose results are tile programs again: executed by the interpreter,
 * checked by the verifier, printed and parsed. {@link dev.warpwright.lower.tile.PlanPipes} says
 * through which pipes tiles flow, {@link dev.warpwright.lower.tile.AssignRoles} who fills and reads
 * them.
 */
package dev.warpwright.lower.tile;
