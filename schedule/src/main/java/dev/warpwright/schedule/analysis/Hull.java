package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.arith.LinearForm;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The smallest box that covers what accesses touch while their inner loops run, as far as linear
 * forms tell; a dimension about which they do not tell is covered whole. Predicates are ignored, so
 * the box may reach beyond what is touched, and beyond the buffer.
 */
public final class Hull {
  private Hull() {}

  /**
   * The box.
   *
   * @param accesses of one buffer, at least one
   * @param ranges of the loops around
   */
  public static Region of(List<Access> accesses, Ranges ranges) {
    Buffer buffer = accesses.getFirst().buffer();
    List<Range> box = new ArrayList<>();
    for (int d = 0; d < buffer.rank(); d++) {
      Range range = dimension(accesses, d, ranges);
      box.add(range == null ? new Range(Exprs.i32(0), buffer.shape().get(d)) : range);
    }
    return new Region(buffer, box);
  }

  private static @Nullable Range dimension(List<Access> accesses, int d, Ranges outer) {
    LinearForm base = null;
    Span window = null;
    for (Access access : accesses) {
      Ranges ranges = outer.with(access.inner());
      LinearForm min = access.min(d, ranges);
      if (!(access.extent(d) instanceof Expr.IntImm extent)) {
        return null;
      }
      Set<Var> inner = access.innerVars();
      LinearForm moving = min.part(atom -> Affine.mentions(atom, inner));
      LinearForm fixed = min.minus(moving).plus(-min.constant());
      // Of the inner loops alone: bounds of those around may be as wide as a parameter's.
      Span span = Ranges.NONE.with(access.inner()).of(moving.plus(min.constant()));
      if (span == null || base != null && !base.equals(fixed)) {
        return null;
      }
      span = new Span(span.lo(), span.hi() + extent.value() - 1);
      base = fixed;
      window = window == null ? span : window.hull(span);
    }
    if (base == null || window == null) {
      return null;
    }
    return new Range(base.plus(window.lo()).toExpr(), Exprs.i32(window.size()));
  }

  /**
   * The indices of a dimension that an access touches while its inner loops run, or null if there
   * are gaps between them, or it is not known.
   *
   * @param outer ranges of the loops around
   */
  public static @Nullable Range run(Access access, int d, Ranges outer) {
    Map<Var, Long> extents = new HashMap<>();
    for (Iteration iteration : access.inner()) {
      Span span = iteration.span();
      extents.put(iteration.variable(), span != null && span.lo() == 0 ? span.size() : 0L);
    }
    LinearForm first = access.min(d, outer.with(access.inner()));
    TileIndex index = TileIndex.of(first, extents);
    if (index == null || !(access.extent(d) instanceof Expr.IntImm extent)) {
      return null;
    }
    return index.vars().isEmpty()
        ? new Range(index.range().min(), extent)
        : extent.value() == 1 ? index.range() : null;
  }

  /**
   * Whether an access touches a box in full: in each dimension a run of indices, or all of a
   * symbolic extent, moved by loops of its own.
   */
  public static boolean isFull(Access access, Region box, Ranges outer) {
    Set<Expr> moved = new HashSet<>();
    for (int d = 0; d < box.ranges().size(); d++) {
      LinearForm first = access.min(d, outer.with(access.inner()));
      for (Expr atom : first.terms().keySet()) {
        if (Affine.mentions(atom, access.innerVars()) && !moved.add(atom)) {
          return false;
        }
      }
      Range all = box.ranges().get(d);
      if (!all.equals(run(access, d, outer)) && !isWhole(access, first, all)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isWhole(Access access, LinearForm first, Range all) {
    return access.inner().stream()
        .anyMatch(
            iteration ->
                first.equals(Forms.of(iteration.variable()))
                    && iteration.min().equals(all.min())
                    && iteration.extent().equals(all.extent()));
  }
}
