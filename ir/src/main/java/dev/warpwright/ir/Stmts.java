package dev.warpwright.ir;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Makes statements. */
public final class Stmts {
  private Stmts() {}

  /** The statements in order, nested sequences flattened, a single one unwrapped. */
  public static Stmt seq(List<? extends Stmt> stmts) {
    List<Stmt> flat = new ArrayList<>();
    for (Stmt s : stmts) {
      if (s instanceof Stmt.Seq(List<Stmt> inner)) {
        flat.addAll(inner);
      } else {
        flat.add(s);
      }
    }
    return flat.size() == 1 ? flat.getFirst() : new Stmt.Seq(flat);
  }

  public static Stmt seq(Stmt... stmts) {
    return seq(List.of(stmts));
  }

  /** A loop over {@code 0 ≤ name < extent}; one iteration is written out without the loop. */
  public static Stmt loop(ForKind kind, String name, long extent, Function<Expr, Stmt> body) {
    if (extent == 1) {
      return body.apply(Exprs.i32(0));
    }
    Var v = Var.index(name);
    return Stmt.For.of(kind, v, Exprs.i32(extent), body.apply(v));
  }

  /** Allocations around a body, the first outermost. */
  public static Stmt alloc(List<Buffer> buffers, Stmt body) {
    Stmt result = body;
    for (Buffer buffer : buffers.reversed()) {
      result = new Stmt.Alloc(buffer, result);
    }
    return result;
  }

  /** {@code then} where the condition holds; {@code then} alone where it is constantly true. */
  public static Stmt when(Expr condition, Stmt then) {
    return Exprs.isConst(condition, 1) ? then : new Stmt.If(condition, then, null);
  }
}
