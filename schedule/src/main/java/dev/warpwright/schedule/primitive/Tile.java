package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Span;
import dev.warpwright.schedule.analysis.TileIndex;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A block and the loops that become one tile statement, with everything in terms of loops.
 *
 * @param block as it stands in the function
 * @param loops the loops of the tile, outermost first, from 0 with constant extents
 * @param ranges of the loops around and of these
 * @param conditions of the block's predicate, those left out that always hold
 * @param init the initialising store, or null
 * @param stores the block's stores, at least one
 */
record Tile(
    Stmt.Block block,
    List<Stmt.For> loops,
    Ranges ranges,
    List<Expr> conditions,
    Stmt.@Nullable Store init,
    List<Stmt.Store> stores) {

  static Tile of(
      Stmt.Block block,
      List<Stmt.For> loops,
      Ranges ranges,
      Stmt.@Nullable Store init,
      List<Stmt.Store> stores) {
    Substitution bound = Substitution.ofVars(Accesses.bindings(block));
    Rewriter simplify = simplifier(ranges);
    List<Expr> conditions = new ArrayList<>();
    for (Expr condition : Guard.conjuncts(block.predicate())) {
      LinearForm slack = slack(condition, ranges);
      Span span = slack == null ? null : ranges.of(slack);
      if (span == null || span.lo() < 0) {
        conditions.add(condition);
      }
    }
    return new Tile(
        block,
        List.copyOf(loops),
        ranges,
        conditions,
        init == null ? null : (Stmt.Store) simplify.stmt(bound.stmt(init)),
        stores.stream().map(s -> (Stmt.Store) simplify.stmt(bound.stmt(s))).toList());
  }

  private static boolean loads(Expr e) {
    boolean[] found = {false};
    Walk.expressions(e, inner -> found[0] |= inner instanceof Expr.Load);
    return found[0];
  }

  /** Index arithmetic in its linear form; sums of loaded integers stay as they are. */
  private static Rewriter simplifier(Ranges ranges) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        return e.type().equals(Type.I32) && !loads(e) ? Forms.simplify(e, ranges) : super.expr(e);
      }
    };
  }

  /** What is at least 0 exactly where the condition holds, or null if it is no {@code <} or ≥. */
  static @Nullable LinearForm slack(Expr condition, Ranges ranges) {
    if (condition instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
        && a.type().equals(Type.I32)) {
      if (op == BinaryOp.LT) {
        return Forms.of(b, ranges).minus(Forms.of(a, ranges)).plus(-1);
      }
      if (op == BinaryOp.GE) {
        return Forms.of(a, ranges).minus(Forms.of(b, ranges));
      }
    }
    return null;
  }

  LinearForm index(Expr index) {
    return Forms.of(index, ranges);
  }

  /** Extents of the loops of the tile that satisfy the condition. */
  Map<Var, Long> extents(Predicate<Var> chosen) {
    Map<Var, Long> extents = new LinkedHashMap<>();
    for (Stmt.For loop : loops) {
      if (chosen.test(loop.var()) && loop.extent() instanceof Expr.IntImm n) {
        extents.put(loop.var(), n.value());
      }
    }
    return extents;
  }

  /** The indices as consecutive runs over the loops, or null if one is not. */
  @Nullable List<TileIndex> tile(List<Expr> indices, Map<Var, Long> extents) {
    List<TileIndex> tile = new ArrayList<>();
    for (Expr index : indices) {
      TileIndex run = TileIndex.of(index(index), extents);
      if (run == null) {
        return null;
      }
      tile.add(run);
    }
    return tile;
  }

  /**
   * That the block may store where its predicate does not hold: on chip, inside the buffer, and
   * beyond the extents of its variables, where no other instance stores.
   */
  void requireStoresAnywhere(Check check, int requirement, Stmt.Store store) {
    if (conditions.isEmpty()) {
      return;
    }
    check.require(
        requirement,
        isOnChip(store.buffer()) && inBounds(store.buffer(), store.indices()),
        "a predicate guards stores to "
            + store.buffer().name()
            + " that leave the chip: write through a buffer on chip (cacheWrite)",
        block);
    check.require(
        requirement,
        Guard.isAboutExtents(Guard.withPredicate(block, Guard.all(conditions)), ranges),
        "a predicate of block "
            + block.name()
            + " cuts off more than the ends of its extents: without it, elements are computed"
            + " twice",
        block);
  }

  /** Whether every element is inside the buffer in every iteration, predicate or not. */
  boolean inBounds(Buffer buffer, List<Expr> indices) {
    for (int d = 0; d < indices.size(); d++) {
      LinearForm index = index(indices.get(d));
      Span low = ranges.of(index);
      Span slack = ranges.of(Forms.of(buffer.shape().get(d)).minus(index).plus(-1));
      if (low == null || low.lo() < 0 || slack == null || slack.lo() < 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * The conditions that still have to guard a value that is computed for the whole tile, stored on
   * chip: those that keep its loads inside their buffers, all of them where a load would find
   * elements that nothing wrote, and those with a constant bound (beyond the end of a row there
   * shall be zeros, which a later product can rely on).
   */
  List<Expr> kept(PrimFunc func, Expr value) {
    Set<Expr> kept = new LinkedHashSet<>();
    for (Expr condition : conditions) {
      if (condition instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
          && b instanceof Expr.IntImm) {
        kept.add(condition);
      }
    }
    Walk.expressions(
        value,
        e -> {
          if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)) {
            for (int d = 0; d < indices.size(); d++) {
              kept.addAll(needed(index(indices.get(d)), buffer.shape().get(d)));
            }
            if (!kept.containsAll(conditions)
                && !WrittenBefore.holds(func, this, buffer, indices)) {
              kept.addAll(conditions);
            }
          }
        });
    return conditions.stream().filter(kept::contains).toList();
  }

  /** Conditions that keep an index inside an extent; all of them where none is known to. */
  private List<Expr> needed(LinearForm index, Expr extent) {
    LinearForm room = Forms.of(extent).minus(index).plus(-1);
    Span low = ranges.of(index);
    Span high = ranges.of(room);
    if (low == null || low.lo() < 0) {
      return conditions;
    }
    if (high != null && high.lo() >= 0) {
      return List.of();
    }
    for (Expr condition : conditions) {
      LinearForm slack = slack(condition, ranges);
      if (slack != null && room.minus(slack).isConstant() && room.minus(slack).constant() >= 0) {
        return List.of(condition);
      }
    }
    return conditions;
  }

  /** Whether elements that nobody asked for may be written: they stay on chip, so nobody sees. */
  static boolean isOnChip(Buffer buffer) {
    return buffer.scope() != Scope.GLOBAL;
  }

  /** {@code value} where all the conditions hold, {@code otherwise} elsewhere. */
  static Expr guarded(List<Expr> conditions, Expr value, Expr otherwise) {
    Expr all = Guard.all(conditions);
    return all == null ? value : Exprs.select(all, value, otherwise);
  }
}
