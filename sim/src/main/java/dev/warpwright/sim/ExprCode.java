package dev.warpwright.sim;

import dev.warpwright.ir.Stmt;

/** Compiles expressions to something else than closures. */
interface ExprCode {
  /** What compiles the expressions of a statement. */
  ExprCompiler exprs(Stmt where, CallCompiler calls);
}
