package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Span;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Predicates of blocks. */
final class Guard {
  private Guard() {}

  /** The blocks inside happen only where the condition holds, too. */
  static Stmt blocks(Stmt root, Expr condition) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        return s instanceof Stmt.Block block ? with(block, condition) : super.stmt(s);
      }
    }.stmt(root);
  }

  static Stmt.Block with(Stmt.Block block, Expr condition) {
    Expr predicate = block.predicate();
    return withPredicate(block, predicate == null ? condition : Exprs.and(predicate, condition));
  }

  static Stmt.Block withPredicate(Stmt.Block block, @Nullable Expr predicate) {
    return new Stmt.Block(
        block.name(),
        block.iterVars(),
        predicate == null || Exprs.isConst(predicate, 1) ? null : predicate,
        block.reads(),
        block.writes(),
        block.init(),
        block.body(),
        block.attrs());
  }

  /** Whether instances of the block, or of the one inside a {@link Blockize}d one, are left out. */
  static boolean isGuarded(Stmt.Block block) {
    Stmt.Block inner = Blockize.innerOf(block);
    return block.predicate() != null || inner != null && inner.predicate() != null;
  }

  /** A statement that does something and is in no block, or null if there is none. */
  static @Nullable Stmt firstOutsideBlocks(Stmt s) {
    boolean descend =
        switch (s) {
          case Stmt.Seq seq -> true;
          case Stmt.For loop -> true;
          case Stmt.Alloc alloc -> true;
          case Stmt.Block block -> true;
          case Stmt.Comment comment -> true;
          case Stmt.While loop -> false;
          case Stmt.If branch -> false;
          case Stmt.Let let -> false;
          case Stmt.Store store -> false;
          case Stmt.Evaluate evaluate -> false;
          case Stmt.TileCopy tile -> false;
          case Stmt.TileFill tile -> false;
          case Stmt.TileMma tile -> false;
          case Stmt.TileMap tile -> false;
          case Stmt.TileReduce tile -> false;
          case Stmt.Flow flow -> false;
        };
    if (!descend) {
      return s;
    }
    for (Stmt child : Tree.children(s)) {
      Stmt bare = firstOutsideBlocks(child);
      if (bare != null) {
        return bare;
      }
    }
    return null;
  }

  /** The conditions that a predicate joins; none for null. */
  static List<Expr> conjuncts(@Nullable Expr predicate) {
    List<Expr> all = new ArrayList<>();
    if (predicate != null) {
      collect(predicate, all);
    }
    return all;
  }

  private static void collect(Expr e, List<Expr> all) {
    if (e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b) && op == BinaryOp.AND) {
      collect(a, all);
      collect(b, all);
    } else {
      all.add(e);
    }
  }

  /** All of the conditions, or null for none. */
  static @Nullable Expr all(List<Expr> conditions) {
    Expr joined = null;
    for (Expr condition : conditions) {
      joined = joined == null ? condition : Exprs.and(joined, condition);
    }
    return joined;
  }

  /**
   * Whether a block's predicate, and that of the one inside a {@link Blockize}d one, holds wherever
   * all of its variables are inside their extents.
   */
  static boolean isAboutExtents(Stmt.Block block, Ranges ranges) {
    Stmt.Block inner = Blockize.innerOf(block);
    if (inner != null) {
      Stmt nest = Blockize.dissolved(block, inner);
      Stmt.Block leaf = Tree.blocks(nest).getFirst();
      Ranges inside = ranges;
      for (Stmt.For loop : Tree.allLoops(nest)) {
        inside = inside.with(loop.var(), Ranges.of(loop));
      }
      return isAboutExtents(leaf, inside);
    }
    List<LinearForm> bounds = new ArrayList<>();
    for (IterVar iterVar : block.iterVars()) {
      LinearForm value = Forms.of(iterVar.binding(), ranges);
      bounds.add(value);
      bounds.add(Forms.of(iterVar.extent(), ranges).minus(value).plus(-1));
    }
    for (Expr condition : conjuncts(block.predicate())) {
      LinearForm slack = Tile.slack(condition, ranges);
      if (slack == null || bounds.stream().noneMatch(bound -> fallsWith(bound, slack, ranges))) {
        return false;
      }
    }
    return true;
  }

  /** Whether {@code bound < 0} follows from {@code slack < 0}. */
  private static boolean fallsWith(LinearForm bound, LinearForm slack, Ranges ranges) {
    Span always = ranges.of(slack);
    if (always != null && always.lo() >= 0) {
      return true;
    }
    for (Map.Entry<Expr, Long> term : slack.terms().entrySet()) {
      long factor = bound.terms().getOrDefault(term.getKey(), 0L) / term.getValue();
      Span rest = factor > 0 ? ranges.of(bound.minus(slack.times(factor))) : null;
      if (rest != null && rest.hi() < factor) {
        return true;
      }
    }
    return false;
  }
}
