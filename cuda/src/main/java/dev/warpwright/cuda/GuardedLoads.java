package dev.warpwright.cuda;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import org.jspecify.annotations.Nullable;

/**
 * Loads into registers where a condition holds, and zeros elsewhere. Of {@code ? :} compilers make
 * a branch, and where its sides meet, what was loaded is waited for: a product in f32 whose sizes
 * are no whole tiles loses a third of its speed. A predicate of the load itself waits for nothing.
 */
final class GuardedLoads {
  private GuardedLoads() {}

  /**
   * What is loaded, perhaps as bits of another type, and when, if a store is such a load: of one
   * access of 4, 8 or 16 bytes from memory that the kernel does not write, at an address that can
   * be computed where the condition does not hold.
   */
  static Expr.@Nullable Select of(Stmt.Store store, AccessSummary accesses) {
    if (store.buffer().scope() != Scope.LOCAL
        || !(store.value() instanceof Expr.Select select)
        || !(loaded(select.then()) instanceof Expr.Load load)
        || load.buffer().scope() != Scope.GLOBAL
        || accesses.writes(load.buffer())
        || !isZero(select.otherwise())) {
      return null;
    }
    int bytes = load.type().lanes() * load.type().dtype().bytes();
    boolean access = bytes == 4 || bytes == 8 || bytes == 16;
    boolean uniform =
        select.condition().type().isScalar() || select.condition() instanceof Expr.Broadcast;
    return access && uniform && !loads(select.condition(), load) ? select : null;
  }

  /** The load that an expression is, or whose bits it takes as another type; null for others. */
  static Expr.@Nullable Load loaded(Expr e) {
    return switch (e) {
      case Expr.Load load -> load;
      case Expr.Bitcast(Type _, Expr.Load load) -> load;
      default -> null;
    };
  }

  private static boolean isZero(Expr e) {
    Expr value = e instanceof Expr.Broadcast b ? b.value() : e;
    return Exprs.isConst(value, 0)
        || value instanceof Expr.FloatImm imm && Double.doubleToRawLongBits(imm.value()) == 0;
  }

  private static boolean loads(Expr condition, Expr.Load load) {
    boolean[] found = new boolean[1];
    Walk.expressions(condition, e -> found[0] |= e instanceof Expr.Load);
    load.indices().forEach(i -> Walk.expressions(i, e -> found[0] |= e instanceof Expr.Load));
    return found[0];
  }
}
