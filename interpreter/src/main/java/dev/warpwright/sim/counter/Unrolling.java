package dev.warpwright.sim.counter;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;

/**
 * How often CUDA's compiler repeats the body of a serial loop side by side, where loads of
 * neighbouring iterations become one wider load. It is what LLVM does with loops whose number of
 * trips is known: all trips if that makes at most so many instructions, else up to eight that
 * divide them. Instructions are counted from the statements: arithmetic, loads and stores of
 * memory, and three for the loop itself; addresses advance with the loop and cost nothing.
 */
public final class Unrolling {
  /** Instructions of a loop of which nothing is left. */
  private static final int COMPLETE = 300;

  /** Instructions of a loop that goes round less often. */
  private static final int PARTIAL = 150;

  private static final int MOST = 8;

  /** Comparison, branch and counter. */
  private static final int OVERHEAD = 3;

  /** Of these, what is not repeated. */
  private static final int ONCE = 2;

  private Unrolling() {}

  /** Iterations that stand side by side, 1 to the number of trips; as many as the text says. */
  public static long factor(Stmt.For loop, long trips) {
    if (loop.kind() != ForKind.SERIAL || trips <= 1) {
      return Math.max(trips, 1);
    }
    if (loop.attrs().has("unroll")) {
      return Math.clamp(loop.attrs().getLong("unroll", 1), 1, trips);
    }
    double size = OVERHEAD + instructions(loop.body());
    if ((size - ONCE) * trips + ONCE <= COMPLETE) {
      return trips;
    }
    long factor = (long) Math.min(MOST, (PARTIAL - ONCE) / Math.max(1, size - ONCE));
    while (factor > 1 && trips % factor != 0) {
      factor--;
    }
    return Math.max(factor, 1);
  }

  private static double instructions(Stmt s) {
    return switch (s) {
      case Stmt.For f ->
          f.extent() instanceof Expr.IntImm(var type, long trips)
              ? trips * instructions(f.body())
              : instructions(f.body());
      case Stmt.Seq seq -> seq.stmts().stream().mapToDouble(Unrolling::instructions).sum();
      case Stmt.Alloc a -> instructions(a.body());
      case Stmt.Let l -> instructions(l.body());
      case Stmt.If i ->
          1 + instructions(i.then()) + (i.otherwise() == null ? 0 : instructions(i.otherwise()));
      case Stmt.Store store ->
          (isMemory(store.buffer().scope()) ? 1 : 0) + instructions(store.value());
      case Stmt.Comment _ -> 0;
      case Stmt.While _,
          Stmt.Evaluate _,
          Stmt.Block _,
          Stmt.TileCopy _,
          Stmt.TileFill _,
          Stmt.TileMma _,
          Stmt.TileMap _,
          Stmt.TileReduce _,
          Stmt.Flow _ ->
          1;
    };
  }

  private static boolean isMemory(Scope scope) {
    return scope == Scope.SHARED || scope == Scope.GLOBAL || scope == Scope.SHARED_CLUSTER;
  }

  private static double instructions(Expr e) {
    double[] count = {0};
    Walk.expressions(
        e,
        part ->
            count[0] +=
                switch (part) {
                  case Expr.Load load -> isMemory(load.buffer().scope()) ? 1 : 0;
                  case Expr.Binary _, Expr.Unary _, Expr.Select _, Expr.Cast _, Expr.Call _ ->
                      part.type().dtype().isFloat() ? part.type().lanes() : 0;
                  case Var _,
                      Expr.IntImm _,
                      Expr.FloatImm _,
                      Expr.Bitcast _,
                      Expr.AddressOf _,
                      Expr.Ramp _,
                      Expr.Broadcast _ ->
                      0;
                });
    return count[0];
  }
}
