package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.Combine;
import dev.warpwright.schedule.analysis.Tree;
import dev.warpwright.schedule.error.ScheduleError;
import java.util.List;

/**
 * Divides the depth of a GEMM into parts, which different blocks may sum.
 *
 * <pre>{@code
 * for i { for j { for k in K { block c { c[i, j] += a[i, k] · b[k, j] } } } }
 * →
 * alloc c_rf: [p, …]
 * for i { for j { for k_o in p { for k_i in K/p {
 *     block c_rf { c_rf[k_o, i, j] += a[i, k_o*(K/p) + k_i] · b[k_o*(K/p) + k_i, j] } } } } }
 * for i { for j { for k_o in p { block c { c[i, j] += c_rf[k_o, i, j] } } } }
 * }</pre>
 *
 * <p>It is a {@link Split} and an {@link Rfactor}; what it adds is who sums the parts:
 *
 * <ul>
 *   <li>{@link Combine#WORKSPACE}: the partial results go to memory, and a second grid sums them.
 *   <li>{@link Combine#TURNS}: each block adds its part to the result when it is its turn, in the
 *       order of the parts. The loop over parts around the second block carries the attribute
 *       {@code turns}; tile that block, move the loop outside of the tile, and {@link ComputeAt}
 *       the partial results in it: then they never leave the chip.
 * </ul>
 *
 * <p>Both add the same numbers in the same order, so they give the same bits; not those of the
 * undivided sum.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The block exists.
 *   <li>It has one reduce variable, bound to a loop of its own.
 *   <li>{@code p ≥ 1}, and p divides the loop's extent: {@link Pad} it first where it does not.
 *   <li>{@link Rfactor} agrees; its reason is told.
 * </ol>
 */
public final class SplitK {
  private static final String NAME = "splitK";

  /**
   * The new function.
   *
   * @param partial name of the block and buffer of the partial results
   * @param part the loop over parts around that block
   * @param turn the loop over parts around the block that sums them
   */
  public record Result(PrimFunc func, String partial, Var part, Var turn) {}

  private SplitK() {}

  public static Result apply(PrimFunc func, String blockName, long parts, Combine combine) {
    Check check = new Check(NAME, func);
    List<Stmt> path = check.block(1, blockName);
    Stmt.Block block = (Stmt.Block) path.getLast();
    List<IterVar> reduce = block.iterVars().stream().filter(IterVar::isReduce).toList();
    if (reduce.size() != 1 || !(reduce.getFirst().binding() instanceof Var k)) {
      throw check.error(2, "block " + blockName + " is over no loop of one reduce variable", block);
    }
    Stmt.For loop = (Stmt.For) check.loop(2, k).getLast();
    check.require(
        3,
        parts >= 1 && loop.extent() instanceof Expr.IntImm n && n.value() % parts == 0,
        parts + " parts do not divide the extent of loop " + k,
        loop);
    try {
      Split.Result split = Split.apply(func, k, ((Expr.IntImm) loop.extent()).value() / parts);
      boolean symbolic =
          block.writes().stream().anyMatch(region -> !region.buffer().hasConstantShape());
      Rfactor.Result factored =
          Rfactor.apply(split.func(), blockName, split.outer(), symbolic ? 1 : 0);
      PrimFunc result = factored.func();
      List<Stmt> sum = new Check(NAME, result).block(4, blockName);
      Var turn = Tree.loops(sum).getLast().var();
      if (combine == Combine.TURNS) {
        result = Annotate.loop(result, turn, "turns", 1L);
      }
      return new Result(result, factored.partial(), split.outer(), turn);
    } catch (ScheduleError e) {
      throw check.error(4, e.reason(), block);
    }
  }
}
