package dev.warpwright.lower.simt;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A loop without its last iterations, in which all that is copied is zero: those where a condition
 * does not hold that all copies have, and that is the same for all threads. A part of a sum that is
 * shorter than the others ends so.
 *
 * <pre>{@code
 * for k in 188 { S <- select(z * 188 + k < 375, A(k), 0); … }
 * →
 * for k in min(188, 375 - z * 188) { S <- A(k); … }
 * }</pre>
 *
 * @param loop with the new extent
 * @param copies of iterations after the first, without the condition
 */
record ZeroSteps(Stmt.For loop, List<Stmt> copies) {
  /**
   * The shorter loop, or null if there is no such condition.
   *
   * @param copies to shared memory, in the loop
   */
  static @Nullable ZeroSteps of(Stmt.For loop, List<Stmt> copies) {
    Set<Expr> common = null;
    for (Stmt copy : copies) {
      Set<Expr> conditions = conditions(copy);
      if (common == null) {
        common = conditions;
      } else {
        common.retainAll(conditions);
      }
    }
    if (common == null) {
      return null;
    }
    Set<Var> inside = new HashSet<>();
    Walk.statements(
        loop.body(),
        s -> {
          if (s instanceof Stmt.For inner) {
            inside.add(inner.var());
          }
        });
    for (Expr condition : common) {
      if (condition instanceof Expr.Binary(BinaryOp op, Expr index, Expr extent)
          && op == BinaryOp.LT
          && !Affine.mentions(condition, inside)) {
        Optional<Affine> form = Affine.of(Exprs.sub(index, extent), Set.of(loop.var()));
        long step = form.map(f -> f.coefficient(loop.var())).orElse(0L);
        if (step > 0) {
          // base + step * k < 0
          Expr room = Exprs.sub(Exprs.i32(step - 1), form.orElseThrow().base());
          Stmt.For shorter =
              new Stmt.For(
                  loop.var(),
                  loop.min(),
                  Exprs.min(loop.extent(), Exprs.div(room, step)),
                  loop.kind(),
                  loop.axis(),
                  loop.attrs(),
                  loop.body());
          return new ZeroSteps(
              shorter, copies.stream().map(copy -> without(copy, condition)).toList());
        }
      }
    }
    return null;
  }

  /** Conditions that all stores of a nest have. */
  private static Set<Expr> conditions(Stmt nest) {
    List<Set<Expr>> all = new ArrayList<>();
    Walk.statements(
        nest,
        s -> {
          if (s instanceof Stmt.Store store) {
            Copy copy = Copy.of(store);
            all.add(copy == null ? Set.of() : new HashSet<>(Copy.conjuncts(copy.inside())));
          }
        });
    Set<Expr> common = all.isEmpty() ? new HashSet<>() : new HashSet<>(all.getFirst());
    all.forEach(common::retainAll);
    return common;
  }

  private static Stmt without(Stmt nest, Expr condition) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        if (!(s instanceof Stmt.Store store)) {
          return super.stmt(s);
        }
        Copy copy = Copy.of(store);
        if (copy == null) {
          return super.stmt(s);
        }
        Expr left =
            Copy.conjuncts(copy.inside()).stream()
                .filter(c -> !c.equals(condition))
                .reduce(Exprs::and)
                .orElse(null);
        Expr value =
            left == null
                ? copy.load()
                : Exprs.select(left, copy.load(), Exprs.zero(copy.load().type()));
        return new Stmt.Store(store.buffer(), store.indices(), value);
      }
    }.stmt(nest);
  }
}
