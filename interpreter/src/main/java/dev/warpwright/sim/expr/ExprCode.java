package dev.warpwright.sim.expr;

import dev.warpwright.ir.Stmt;

/** Compiles expressions to something else than closures. */
public interface ExprCode {
  /** What compiles the expressions of a statement. */
  ExprCompiler exprs(Stmt where, CallCompiler calls);
}
