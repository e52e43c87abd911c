package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import org.jspecify.annotations.Nullable;

/** A loop, or a variable of a tile statement's box: {@code min ≤ variable < min + extent}. */
public record Iteration(Var variable, Expr min, Expr extent) {
  static Iteration of(Stmt.For loop) {
    return new Iteration(loop.var(), loop.min(), loop.extent());
  }

  static Iteration of(Var variable, Expr extent) {
    return new Iteration(variable, Exprs.i32(0), extent);
  }

  /** The values, or null where the bounds are not constant. */
  public @Nullable Span span() {
    return Ranges.of(min, extent);
  }
}
