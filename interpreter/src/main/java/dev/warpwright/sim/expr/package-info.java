/**
 * Expressions and accesses as closures, the {@link dev.warpwright.sim.expr.Frame} that they work
 * on, and what compilers of one function share. Both interpreters and the bytecode stand on it.
 */
package dev.warpwright.sim.expr;
