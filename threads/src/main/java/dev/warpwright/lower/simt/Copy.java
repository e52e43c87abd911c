package dev.warpwright.lower.simt;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A store of a loaded element, or of zero where a condition does not hold.
 *
 * @param inside where the load happens; constant true for everywhere
 */
record Copy(Stmt.Store store, Expr.Load load, Expr inside) {
  /** The store as a copy, or null if it is none. */
  static @Nullable Copy of(Stmt.Store store) {
    return switch (store.value()) {
      case Expr.Load load -> new Copy(store, load, Exprs.bool(true));
      case Expr.Select(Expr condition, Expr.Load load, Expr otherwise)
          when otherwise.equals(Exprs.zero(otherwise.type())) ->
          new Copy(store, load, condition);
      default -> null;
    };
  }

  boolean isUnconditional() {
    return Exprs.isConst(inside, 1);
  }

  /** The parts of a condition that all have to hold; none of one that always does. */
  static List<Expr> conjuncts(Expr condition) {
    if (condition instanceof Expr.Binary(BinaryOp op, Expr a, Expr b) && op == BinaryOp.AND) {
      List<Expr> all = new ArrayList<>(conjuncts(a));
      all.addAll(conjuncts(b));
      return all;
    }
    return Exprs.isConst(condition, 1) ? List.of() : List.of(condition);
  }
}
