package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.schedule.analysis.Tree;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the primitives that say how a loop is carried out have in common. */
final class LoopKind {
  private LoopKind() {}

  /** The loop, which exists, is serial and starts at 0. */
  static Stmt.For serialLoop(Check check, Var loopVar) {
    Stmt.For loop = (Stmt.For) check.loop(1, loopVar).getLast();
    check.serial(2, loop);
    check.fromZero(2, loop);
    return loop;
  }

  /** Whether different blocks carry out the iterations. */
  static boolean isOverBlocks(Stmt.For loop) {
    return loop.kind() == ForKind.PERSISTENT || loop.axis() != null && loop.axis().isBlock();
  }

  /** That a loop, which is to be taken apart, is not one over tiles in an order of their own. */
  static void unordered(Check check, int requirement, Stmt.For loop) {
    check.require(
        requirement,
        !loop.attrs().has("order"),
        "loop " + loop.var() + " is over tiles in an order of their own",
        loop);
  }

  static PrimFunc with(PrimFunc func, Stmt.For loop, ForKind kind, @Nullable ThreadAxis axis) {
    return Tree.replace(
        func,
        loop,
        new Stmt.For(loop.var(), loop.min(), loop.extent(), kind, axis, loop.attrs(), loop.body()));
  }

  static void constantExtent(Check check, int requirement, Stmt.For loop) {
    check.require(
        requirement,
        loop.extent() instanceof Expr.IntImm,
        "the extent of loop " + loop.var() + " is not a constant",
        loop);
  }

  /** The loop of this axis on a path, or null. */
  static Stmt.@Nullable For bound(List<Stmt> path, ThreadAxis axis) {
    for (Stmt.For loop : Tree.loops(path)) {
      if (loop.axis() == axis) {
        return loop;
      }
    }
    return null;
  }

  static boolean sameExtent(Stmt.For a, Stmt.For b) {
    return a.extent().equals(b.extent()) || Exprs.isConst(Exprs.sub(a.extent(), b.extent()), 0);
  }
}
