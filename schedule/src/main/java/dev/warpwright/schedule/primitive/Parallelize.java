package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;

/**
 * Lets iterations of a loop run on several cores of the host.
 *
 * <pre>{@code
 * for i in n { S }  →  parallel i in n { S }
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The loop exists.
 *   <li>It is serial and starts at 0.
 *   <li>Iterations are independent and share no on-chip buffer; the same goes for every other
 *       parallel loop.
 * </ol>
 */
public final class Parallelize {
  private static final String NAME = "parallel";

  private Parallelize() {}

  public static PrimFunc apply(PrimFunc func, Var loopVar) {
    Check check = new Check(NAME, func);
    Stmt.For loop = LoopKind.serialLoop(check, loopVar);
    return check.parallelLoopsIndependent(3, LoopKind.with(func, loop, ForKind.PARALLEL, null));
  }
}
