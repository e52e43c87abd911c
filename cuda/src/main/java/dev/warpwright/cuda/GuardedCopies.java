package dev.warpwright.cuda;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;

/**
 * Conditions around nothing but asynchronous copies. Whether such a condition becomes a branch or a
 * predicate of each copy is the compiler's choice, and it differs between NVRTC and nvcc. A branch
 * keeps the arithmetic around it from being scheduled between the copies: a product in f32 loses a
 * tenth of its speed.
 */
final class GuardedCopies {
  private GuardedCopies() {}

  /**
   * Whether each copy may carry the condition. There is nothing else inside, and no loop that stays
   * one, which would then run for nothing; addresses can be computed where the condition does not
   * hold, for nothing is loaded for them.
   */
  static boolean suit(Stmt.If i) {
    return i.otherwise() == null && areCopies(i.then());
  }

  private static boolean areCopies(Stmt s) {
    return switch (s) {
      case Stmt.Seq seq ->
          !seq.stmts().isEmpty() && seq.stmts().stream().allMatch(GuardedCopies::areCopies);
      case Stmt.For f -> f.kind() == ForKind.UNROLLED && areCopies(f.body());
      case Stmt.Evaluate e ->
          e.call().op() instanceof TargetIntrinsic intrinsic
              && Intrinsics.guarded(intrinsic).isPresent()
              && !loads(e.call());
      case Stmt.While w -> false;
      case Stmt.If inner -> false;
      case Stmt.Let l -> false;
      case Stmt.Alloc a -> false;
      case Stmt.Store store -> false;
      case Stmt.Comment c -> false;
      case Stmt.Block b -> false;
      case Stmt.TileCopy c -> false;
      case Stmt.TileFill f -> false;
      case Stmt.TileMma m -> false;
      case Stmt.TileMap m -> false;
      case Stmt.TileReduce r -> false;
      case Stmt.Flow flow -> false;
    };
  }

  private static boolean loads(Expr e) {
    boolean[] found = new boolean[1];
    Walk.expressions(e, inner -> found[0] |= inner instanceof Expr.Load);
    return found[0];
  }
}
