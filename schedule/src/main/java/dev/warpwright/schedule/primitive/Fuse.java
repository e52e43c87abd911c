package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Tree;
import java.util.Map;

/**
 * Makes one loop of two.
 *
 * <pre>{@code
 * for i in n { for j in m { S(i, j) } }
 * →
 * for i_j in n * m { S(i_j / m, i_j % m) }
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>Both loops exist.
 *   <li>Both are serial and start at 0.
 *   <li>The inner loop is all there is in the outer one.
 *   <li>The inner extent is a constant.
 *   <li>Neither is a loop over tiles in an order of their own, see {@link ReorderBlocks}.
 * </ol>
 */
public final class Fuse {
  private static final String NAME = "fuse";

  private Fuse() {}

  /** The new function, and the new loop. */
  public record Result(PrimFunc func, Var fused) {}

  public static Result apply(PrimFunc func, Var outerVar, Var innerVar) {
    Check check = new Check(NAME, func);
    Stmt.For outer = (Stmt.For) check.loop(1, outerVar).getLast();
    Stmt.For inner = (Stmt.For) check.loop(1, innerVar).getLast();
    check.serial(2, outer);
    check.serial(2, inner);
    check.fromZero(2, outer);
    check.fromZero(2, inner);
    check.require(
        3,
        outer.body() == inner,
        "loop " + innerVar + " is not all there is in loop " + outerVar,
        inner);
    check.require(
        4,
        inner.extent() instanceof Expr.IntImm,
        "the extent of loop " + innerVar + " is not a constant",
        inner);
    LoopKind.unordered(check, 5, outer);
    LoopKind.unordered(check, 5, inner);
    Expr by = inner.extent();
    Var fused = Var.index(outerVar.name() + "_" + innerVar.name());
    Stmt body =
        Substitution.ofVars(Map.of(outerVar, Exprs.div(fused, by), innerVar, Exprs.mod(fused, by)))
            .stmt(inner.body());
    Stmt.For loop = Stmt.For.of(ForKind.SERIAL, fused, Exprs.mul(outer.extent(), by), body);
    return new Result(Tree.replace(func, outer, loop.withAttrs(outer.attrs())), fused);
  }
}
