package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Tree;
import java.util.List;
import java.util.Map;

/**
 * Makes two loops of one.
 *
 * <pre>{@code
 * for i in n { S(i) }
 * →
 * for i_o in ⌈n / f⌉ { for i_i in f { S(i_o * f + i_i) where i_o * f + i_i < n } }
 * }</pre>
 *
 * <p>The condition becomes a predicate of the blocks inside; it is left out where f divides n.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The loop exists.
 *   <li>It is serial and starts at 0.
 *   <li>{@code f ≥ 1}.
 *   <li>f divides the extent, or everything inside the loop is in blocks.
 *   <li>It is not a loop over tiles in an order of their own, see {@link ReorderBlocks}.
 * </ol>
 */
public final class Split {
  private static final String NAME = "split";

  private Split() {}

  /** The new function, and the new loops. */
  public record Result(PrimFunc func, Var outer, Var inner) {}

  public static Result apply(PrimFunc func, Var loopVar, long factor) {
    Check check = new Check(NAME, func);
    List<Stmt> path = check.loop(1, loopVar);
    Stmt.For loop = (Stmt.For) path.getLast();
    check.serial(2, loop);
    check.fromZero(2, loop);
    check.require(3, factor >= 1, "the factor " + factor + " is not positive", loop);

    LoopKind.unordered(check, 5, loop);

    Var outer = Var.index(loopVar.name() + "_o");
    Var inner = Var.index(loopVar.name() + "_i");
    Expr value = Exprs.add(Exprs.mul(outer, factor), inner);
    boolean divides =
        loop.extent() instanceof Expr.IntImm n && Math.floorMod(n.value(), factor) == 0;
    Stmt body = Substitution.ofVars(Map.of(loopVar, value)).stmt(loop.body());
    if (!divides) {
      Stmt bare = Guard.firstOutsideBlocks(loop.body());
      check.require(
          4,
          bare == null,
          factor + " does not divide the extent, and not all of the loop's body is in blocks",
          bare);
      body = Guard.blocks(body, Exprs.lt(value, loop.extent()));
    }
    Stmt.For innerLoop = Stmt.For.of(ForKind.SERIAL, inner, Exprs.i32(factor), body);
    Expr outerExtent = Exprs.ceilDiv(loop.extent(), factor);
    Stmt.For outerLoop =
        Stmt.For.of(ForKind.SERIAL, outer, outerExtent, innerLoop).withAttrs(loop.attrs());
    return new Result(Tree.replace(func, loop, outerLoop), outer, inner);
  }
}
