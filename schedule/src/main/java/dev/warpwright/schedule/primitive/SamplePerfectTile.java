package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Chooses factors into which a loop can be split without a rest.
 *
 * <pre>{@code
 * samplePerfectTile(i, 3, 8):   for i in 64 { S }   gives, for example,   4, 2, 8
 * }</pre>
 *
 * <p>The function stays as it is. All choices are equally likely. The choice is recorded in the
 * trace, so that a replay makes it again, and a tuner can make another one.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The loop exists.
 *   <li>Its extent is a constant of at least 1.
 *   <li>There is at least one factor, and the last may be at least 1.
 *   <li>A choice that is given has as many factors, which multiply to the extent, and the last of
 *       which is not greater than asked for.
 * </ol>
 */
public final class SamplePerfectTile {
  private static final String NAME = "samplePerfectTile";

  private SamplePerfectTile() {}

  /**
   * The factors.
   *
   * @param parts how many, the outermost first
   * @param maxInnermost greatest last factor
   * @param decision the choice if it is made already, or null
   */
  public static List<Long> apply(
      PrimFunc func,
      Var loopVar,
      int parts,
      long maxInnermost,
      @Nullable List<Long> decision,
      RandomGenerator random) {
    Check check = new Check(NAME, func);
    Stmt.For loop = (Stmt.For) check.loop(1, loopVar).getLast();
    if (!(loop.extent() instanceof Expr.IntImm extent) || extent.value() < 1) {
      throw check.error(2, "the extent of loop " + loopVar + " is no positive constant", loop);
    }
    check.require(
        3, parts >= 1 && maxInnermost >= 1, parts + " factors up to " + maxInnermost, loop);
    if (decision == null) {
      List<List<Long>> all = choices(extent.value(), parts, maxInnermost);
      check.require(3, !all.isEmpty(), "no factors up to " + maxInnermost + " make it", loop);
      return all.get(random.nextInt(all.size()));
    }
    boolean fits = decision.size() == parts && decision.getLast() <= maxInnermost;
    long rest = extent.value();
    for (long factor : decision) {
      fits = fits && factor >= 1 && rest % factor == 0;
      rest = fits ? rest / factor : 0;
    }
    check.require(
        4,
        fits && rest == 1,
        "the factors "
            + decision
            + " do not make the extent "
            + extent.value()
            + " of loop "
            + loopVar,
        loop);
    return decision;
  }

  /** All choices for an extent, in ascending order. */
  public static List<List<Long>> choices(long extent, int parts, long maxInnermost) {
    List<List<Long>> all = new ArrayList<>();
    choose(extent, parts, maxInnermost, new ArrayList<>(), all);
    return all;
  }

  private static void choose(
      long rest, int parts, long maxInnermost, List<Long> chosen, List<List<Long>> all) {
    if (parts == 1) {
      if (rest <= maxInnermost) {
        chosen.add(rest);
        all.add(List.copyOf(chosen));
        chosen.removeLast();
      }
      return;
    }
    for (long factor = 1; factor <= rest; factor++) {
      if (rest % factor == 0) {
        chosen.add(factor);
        choose(rest / factor, parts - 1, maxInnermost, chosen, all);
        chosen.removeLast();
      }
    }
  }
}
