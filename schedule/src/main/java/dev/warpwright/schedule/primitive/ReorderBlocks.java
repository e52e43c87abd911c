package dev.warpwright.schedule.primitive;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Tree;
import java.util.List;

/**
 * Makes one loop over tiles of two, and says in which order the tiles are computed.
 *
 * <pre>{@code
 * for m in M { for n in N { S(m, n) } }
 * →
 * for m_n in M * N [columns = N, order = "grouped:8"] { S(m_n / N, m_n % N) }
 * }</pre>
 *
 * <p>An iteration {@code x} stands for the tile {@code (x / N, x % N)}. Tiles do not depend on each
 * other, so the order is no part of the meaning: it is data, a {@link
 * dev.warpwright.ir.order.BlockOrder} in its text form, which maps a running work index to a tile,
 * and of which lowering makes the index that a block takes. The new loop is then bound to {@code
 * blockIdx.x}, or made persistent.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>Both loops exist.
 *   <li>Both are serial and start at 0.
 *   <li>The inner loop is all there is in the outer one, and its extent is a constant.
 *   <li>Iterations are independent.
 *   <li>An explicit order names each tile of the grid once, and the number of rows is a constant.
 * </ol>
 */
public final class ReorderBlocks {
  private static final String NAME = "blockOrder";

  private ReorderBlocks() {}

  public static Fuse.Result apply(
      PrimFunc func, Var rowVar, Var columnVar, dev.warpwright.ir.order.BlockOrder order) {
    Check check = new Check(NAME, func);
    Stmt.For rows = LoopKind.serialLoop(check, rowVar);
    Stmt.For columns = LoopKind.serialLoop(check, columnVar);
    check.require(
        3,
        rows.body() == columns,
        "loop " + columnVar + " is not all there is in loop " + rowVar,
        columns);
    LoopKind.constantExtent(check, 3, columns);
    Ranges ranges = Tree.ranges(func, check.loop(1, rowVar));
    check.independent(4, List.of(rows, columns), columns.body(), ranges);
    long width = ((Expr.IntImm) columns.extent()).value();
    if (order instanceof dev.warpwright.ir.order.BlockOrder.Explicit) {
      LoopKind.constantExtent(check, 5, rows);
      long height = ((Expr.IntImm) rows.extent()).value();
      try {
        order.tiles(Math.toIntExact(height), Math.toIntExact(width));
      } catch (UserError e) {
        throw check.error(5, String.valueOf(e.getMessage()), rows);
      }
    }
    Fuse.Result fused = Fuse.apply(func, rowVar, columnVar);
    Stmt.For loop = (Stmt.For) new Check(NAME, fused.func()).loop(1, fused.fused()).getLast();
    Stmt.For ordered =
        loop.withAttrs(loop.attrs().with("order", order.text()).with("columns", width));
    return new Fuse.Result(Tree.replace(fused.func(), loop, ordered), fused.fused());
  }
}
