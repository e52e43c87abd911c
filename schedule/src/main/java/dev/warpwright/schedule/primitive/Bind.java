package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import java.util.List;

/**
 * Makes a loop variable an index of the launch: iterations run on different blocks or threads.
 *
 * <pre>{@code
 * for i in n { S }  →  bind blockIdx.x i in n { S }
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The loop exists.
 *   <li>It is serial and starts at 0.
 *   <li>The extent of a thread index is a constant.
 *   <li>No loop around it or inside it is bound to the same index, and other loops bound to it have
 *       the same extent.
 *   <li>Iterations are independent, and share no on-chip buffer if they run on different blocks;
 *       the same goes for every other parallel loop.
 * </ol>
 */
public final class Bind {
  private static final String NAME = "bind";

  private Bind() {}

  public static PrimFunc apply(PrimFunc func, Var loopVar, ThreadAxis axis) {
    Check check = new Check(NAME, func);
    Stmt.For loop = LoopKind.serialLoop(check, loopVar);
    check.require(
        3,
        axis.isBlock() || loop.extent() instanceof Expr.IntImm,
        "the extent of loop " + loopVar + " is not a constant, as " + axis.text() + " needs",
        loop);
    List<Stmt> path = check.loop(1, loopVar);
    check.require(
        4,
        LoopKind.bound(path, axis) == null,
        "a loop around " + loopVar + " is bound to " + axis.text() + " already",
        loop);
    Walk.statements(
        loop.body(),
        s ->
            check.require(
                4,
                !(s instanceof Stmt.For inner && inner.axis() == axis),
                "a loop inside " + loopVar + " is bound to " + axis.text() + " already",
                loop));
    Walk.statements(
        func.body(),
        s ->
            check.require(
                4,
                !(s instanceof Stmt.For other
                    && other.axis() == axis
                    && !LoopKind.sameExtent(other, loop)),
                "another loop is bound to " + axis.text() + " with another extent",
                loop));
    return check.parallelLoopsIndependent(5, LoopKind.with(func, loop, ForKind.THREAD_BOUND, axis));
  }
}
