package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.schedule.analysis.Tree;

/**
 * Lets the copies of later iterations start early; the meaning stays that of a serial loop.
 *
 * <pre>{@code
 * for i in n { S }  →  pipeline i in n [stages = s] { S }
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The loop exists.
 *   <li>It is serial and starts at 0.
 *   <li>{@code stages ≥ 1}.
 * </ol>
 */
public final class Pipeline {
  private static final String NAME = "pipeline";

  private Pipeline() {}

  public static PrimFunc apply(PrimFunc func, Var loopVar, int stages) {
    Check check = new Check(NAME, func);
    Stmt.For loop = LoopKind.serialLoop(check, loopVar);
    check.require(3, stages >= 1, stages + " stages", loop);
    Attrs attrs = loop.attrs().with("stages", stages);
    return Tree.replace(
        func,
        loop,
        new Stmt.For(
            loop.var(), loop.min(), loop.extent(), ForKind.PIPELINED, null, attrs, loop.body()));
  }
}
