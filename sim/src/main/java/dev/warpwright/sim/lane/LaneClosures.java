package dev.warpwright.sim.lane;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.sim.expr.CallCompiler;
import dev.warpwright.sim.expr.DoubleExpr;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.LongExpr;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Parts of one statement's expressions for which there is no bytecode. They become closures before
 * the code around them is written, for calls of the warp are executed before its lanes go on.
 */
final class LaneClosures {
  private final WarpCodeBuilder builder;
  private final Stmt where;
  private final CallCompiler calls;
  private final Map<Expr, Object> closures = new IdentityHashMap<>();

  LaneClosures(WarpCodeBuilder builder, Stmt where, CallCompiler calls) {
    this.builder = builder;
    this.where = where;
    this.calls = calls;
  }

  /** Those of expressions. */
  static LaneClosures of(WarpCodeBuilder builder, Stmt where, CallCompiler calls, Expr... all) {
    LaneClosures closures = new LaneClosures(builder, where, calls);
    for (Expr e : all) {
      closures.add(e);
    }
    return closures;
  }

  Stmt where() {
    return where;
  }

  /** A {@link LongExpr} or {@link DoubleExpr}. */
  Object get(Expr e) {
    Object closure = closures.get(e);
    if (closure == null) {
      throw new IllegalStateException("no closure was made of " + e);
    }
    return closure;
  }

  /** Makes closures of parts of an expression, in the order in which calls happen. */
  void add(Expr e) {
    if (!LaneExprs.isNative(e)) {
      closures.computeIfAbsent(e, this::closure);
      return;
    }
    switch (e) {
      case Var _, Expr.IntImm _, Expr.FloatImm _ -> {}
      case Expr.Binary b -> {
        add(b.a());
        add(b.b());
      }
      case Expr.Unary u -> add(u.a());
      case Expr.Select s -> {
        add(s.condition());
        add(s.then());
        add(s.otherwise());
      }
      case Expr.Cast c -> add(c.a());
      case Expr.Bitcast c -> add(c.a());
      case Expr.Load l -> l.indices().forEach(this::add);
      case Expr.AddressOf a -> a.indices().forEach(this::add);
      case Expr.Ramp r -> add(r.base());
      case Expr.Broadcast b -> add(b.value());
      case Expr.Call c -> c.args().forEach(this::add);
    }
  }

  private Object closure(Expr e) {
    if (!(e instanceof Expr.Call)) {
      builder.interpreted(where, e);
    }
    ExprCompiler plain = new ExprCompiler(builder.context(), where, calls);
    return e.type().dtype().isFloat() ? plain.real(e) : plain.integer(e);
  }
}
