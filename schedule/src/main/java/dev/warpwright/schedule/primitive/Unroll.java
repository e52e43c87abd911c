package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;

/**
 * Writes the iterations of a loop out, one after the other.
 *
 * <pre>{@code
 * for i in n { S }  →  unroll i in n { S }
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The loop exists.
 *   <li>It is serial and starts at 0.
 *   <li>Its extent is a constant.
 * </ol>
 */
public final class Unroll {
  private static final String NAME = "unroll";

  private Unroll() {}

  public static PrimFunc apply(PrimFunc func, Var loopVar) {
    Check check = new Check(NAME, func);
    Stmt.For loop = LoopKind.serialLoop(check, loopVar);
    LoopKind.constantExtent(check, 3, loop);
    return LoopKind.with(func, loop, ForKind.UNROLLED, null);
  }
}
