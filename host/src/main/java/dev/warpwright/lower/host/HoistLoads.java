package dev.warpwright.lower.host;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.GuardedRewriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Takes loads that may happen in any case out of the sides of selects, into lets around the store:
 * lanes evaluate both sides of a select, so that a load that is left on one of them forbids
 * vectors.
 */
final class HoistLoads extends GuardedRewriter {
  private final Predicate<Expr.Load> harmless;
  private final Map<Expr.Load, Var> lets = new LinkedHashMap<>();

  private HoistLoads(Predicate<Expr.Load> harmless) {
    this.harmless = harmless;
  }

  static Stmt apply(Stmt.Store store, Predicate<Expr.Load> harmless) {
    HoistLoads hoist = new HoistLoads(harmless);
    Expr value = hoist.expr(store.value());
    Stmt result =
        value == store.value() ? store : new Stmt.Store(store.buffer(), store.indices(), value);
    for (Map.Entry<Expr.Load, Var> let : hoist.lets.entrySet()) {
      result = new Stmt.Let(let.getValue(), let.getKey(), result);
    }
    return result;
  }

  @Override
  public Expr expr(Expr e) {
    if (isGuarded() && e instanceof Expr.Load load && harmless.test(load)) {
      return lets.computeIfAbsent(load, l -> new Var("x" + lets.size(), l.type()));
    }
    return super.expr(e);
  }
}
