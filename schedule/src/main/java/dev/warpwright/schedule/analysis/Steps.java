package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.arith.LinearForm;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Indices with gaps between them, as those of a thread that owns every other group of elements:
 * {@code first + Σ stride · digit}, each digit from 0 on.
 *
 * @param first the first index
 * @param steps largest stride first
 */
public record Steps(Expr first, List<Step> steps) {
  /** One digit, named as the loop variable that it was found in. */
  public record Step(String name, long stride, long count) {}

  public Steps {
    steps = List.copyOf(steps);
  }

  /**
   * The indices of a dimension that accesses touch while their inner loops run, or null if {@link
   * Hull} has to tell: because accesses differ, or there are no gaps, or too little is known.
   *
   * @param ranges of the loops around
   */
  public static @Nullable Steps of(List<Access> accesses, int dimension, Ranges ranges) {
    Steps common = null;
    for (Access access : accesses) {
      Steps its = of(access, dimension, ranges);
      if (its == null || common != null && !common.isAs(its)) {
        return null;
      }
      common = its;
    }
    return common != null && common.hasGaps() ? common : null;
  }

  private static @Nullable Steps of(Access access, int dimension, Ranges outer) {
    Ranges ranges = outer.with(access.inner());
    LinearForm index = access.min(dimension, ranges);
    Set<Var> inner = access.innerVars();
    LinearForm moving = index.part(atom -> Affine.mentions(atom, inner));
    List<Step> steps = new ArrayList<>();
    for (var term : moving.terms().entrySet()) {
      Span span = ranges.ofAtom(term.getKey());
      if (!(term.getKey() instanceof Var v) || span == null || span.lo() != 0) {
        return null;
      }
      steps.add(new Step(v.name(), term.getValue(), span.size()));
    }
    steps.sort(Comparator.comparingLong(Step::stride).reversed());
    boolean point = access.extent(dimension) instanceof Expr.IntImm extent && extent.value() == 1;
    return point ? new Steps(index.minus(moving).toExpr(), steps) : null;
  }

  private boolean isAs(Steps other) {
    if (!first.equals(other.first) || steps.size() != other.steps.size()) {
      return false;
    }
    for (int i = 0; i < steps.size(); i++) {
      if (steps.get(i).stride() != other.steps.get(i).stride()
          || steps.get(i).count() != other.steps.get(i).count()) {
        return false;
      }
    }
    return true;
  }

  /** Whether the indices are all different and some between the first and the last are missing. */
  private boolean hasGaps() {
    long reach = 0;
    long count = 1;
    for (Step step : steps.reversed()) {
      if (step.stride() <= reach) {
        return false;
      }
      reach += step.stride() * (step.count() - 1);
      count *= step.count();
    }
    return reach + 1 > count;
  }
}
