package dev.warpwright.ir;

/**
 * An index of a kernel's launch.
 *
 * @param axis which
 * @param var stands for it in the body: 0 ≤ var &lt; extent
 * @param extent for a block axis an expression of the scalar parameters; for a thread axis a
 *     constant
 */
public record ThreadBinding(ThreadAxis axis, Var var, Expr extent) {}
