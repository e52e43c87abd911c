package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;

/**
 * Carries the iterations of an innermost loop out as lanes of vectors.
 *
 * <pre>{@code
 * for i in n { S }  →  vector i in n { S }
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The loop exists.
 *   <li>It is serial and starts at 0.
 *   <li>Its extent is a constant.
 *   <li>It is around one block or one store, directly.
 *   <li>Iterations are independent; the same goes for every other parallel loop.
 * </ol>
 */
public final class Vectorize {
  private static final String NAME = "vectorize";

  private Vectorize() {}

  public static PrimFunc apply(PrimFunc func, Var loopVar) {
    Check check = new Check(NAME, func);
    Stmt.For loop = LoopKind.serialLoop(check, loopVar);
    LoopKind.constantExtent(check, 3, loop);
    check.require(
        4,
        loop.body() instanceof Stmt.Block block && Blockize.innerOf(block) == null
            || loop.body() instanceof Stmt.Store,
        "loop " + loopVar + " is not directly around one block",
        loop);
    return check.parallelLoopsIndependent(5, LoopKind.with(func, loop, ForKind.VECTORIZED, null));
  }
}
