package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.schedule.analysis.Tree;
import dev.warpwright.schedule.error.ScheduleError;
import java.util.List;

/**
 * Divides all steps of all tiles evenly among workers, so that none waits for the last tiles: a
 * worker may start and end in the middle of a tile.
 *
 * <pre>{@code
 * for x in T { for k_o in K { S(x, k_o) } }
 * →   with s = ⌈T * K / w⌉
 * for x_k_o_o in w [steps = K, turns = 1] { for x_k_o_i in s {
 *     S(f / K, f % K) where f = x_k_o_o * s + x_k_o_i < T * K } }
 * }</pre>
 *
 * <p>The loop over workers is a work list over (tile, range of K). Its meaning is serial: a tile
 * that worker p leaves unfinished is handed to worker p + 1, which goes on with it. So the bits of
 * the result stay. The attribute {@code turns} tells that workers take turns at the tiles that they
 * share, as in {@link SplitK}.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>Both loops exist.
 *   <li>Both are serial and start at 0, with constant extents.
 *   <li>The loop over steps is all there is in the loop over tiles, and everything inside is in
 *       blocks.
 *   <li>{@code workers ≥ 1}.
 *   <li>Tiles do not depend on each other.
 * </ol>
 */
public final class StreamK {
  private static final String NAME = "streamK";

  /** The new function, the loop over workers and the one over a worker's steps. */
  public record Result(PrimFunc func, Var workers, Var steps) {}

  private StreamK() {}

  public static Result apply(PrimFunc func, Var tileVar, Var stepVar, long workers) {
    Check check = new Check(NAME, func);
    List<Stmt> path = check.loop(1, tileVar);
    Stmt.For tiles = (Stmt.For) path.getLast();
    Stmt.For steps = (Stmt.For) check.loop(1, stepVar).getLast();
    for (Stmt.For loop : List.of(tiles, steps)) {
      check.serial(2, loop);
      check.fromZero(2, loop);
      LoopKind.constantExtent(check, 2, loop);
    }
    check.require(
        3,
        tiles.body() == steps,
        "loop " + stepVar + " is not all there is in loop " + tileVar,
        steps);
    Stmt bare = Guard.firstOutsideBlocks(steps.body());
    check.require(
        3, bare == null, "not all of the body of loop " + stepVar + " is in blocks", bare);
    check.require(4, workers >= 1, workers + " workers", tiles);
    check.independent(5, List.of(tiles), tiles.body(), Tree.ranges(func, path));
    long depth = ((Expr.IntImm) steps.extent()).value();
    long all = Math.multiplyExact(((Expr.IntImm) tiles.extent()).value(), depth);
    Stmt.For plain = tiles.withAttrs(dev.warpwright.ir.Attrs.NONE);
    try {
      Fuse.Result fused = Fuse.apply(Tree.replace(func, tiles, plain), tileVar, stepVar);
      Split.Result split = Split.apply(fused.func(), fused.fused(), share(all, workers));
      PrimFunc result = split.func();
      Stmt.For outer = (Stmt.For) new Check(NAME, result).loop(1, split.outer()).getLast();
      Stmt.For marked = outer.withAttrs(tiles.attrs().with("turns", 1L).with("steps", depth));
      return new Result(Tree.replace(result, outer, marked), split.outer(), split.inner());
    } catch (ScheduleError e) {
      throw check.error(3, e.reason(), tiles);
    }
  }

  private static long share(long steps, long workers) {
    return Math.max(1, Math.ceilDiv(steps, workers));
  }
}
