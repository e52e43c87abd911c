package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;

/**
 * Which elements of a copied tile lie inside its buffer, decided at compile time where constants
 * allow it.
 */
public final class Guards {
  private Guards() {}

  /** Indices of the element at {@code point} of the region's tile. */
  public static List<Expr> indices(Region region, List<Expr> point) {
    List<Expr> result = new ArrayList<>();
    int next = 0;
    for (Range range : region.ranges()) {
      result.add(range.isPoint() ? range.min() : Exprs.add(range.min(), point.get(next++)));
    }
    return result;
  }

  /** Whether the element is inside; constant true where that is known. */
  public static Expr inside(Region region, List<Expr> indices) {
    Expr condition = Exprs.bool(true);
    Buffer buffer = region.buffer();
    if (buffer.scope() != Scope.GLOBAL) {
      return condition;
    }
    for (int d = 0; d < indices.size(); d++) {
      if (!fits(region.ranges().get(d), buffer.shape().get(d))) {
        condition = Exprs.and(condition, Exprs.lt(indices.get(d), buffer.shape().get(d)));
      }
    }
    return condition;
  }

  /**
   * The same place, or another one inside where {@link #inside} does not hold and nothing is read.
   *
   * @param lanes elements from there on along the last dimension
   */
  static List<Expr> clamped(Region region, List<Expr> indices, int lanes) {
    List<Expr> result = new ArrayList<>();
    for (int d = 0; d < indices.size(); d++) {
      Expr extent = region.buffer().shape().get(d);
      long last = d < indices.size() - 1 ? 1 : lanes;
      result.add(
          fits(region.ranges().get(d), extent)
              ? indices.get(d)
              : Exprs.min(indices.get(d), Exprs.add(extent, -last)));
    }
    return result;
  }

  private static boolean fits(Range range, Expr extent) {
    return range.min() instanceof Expr.IntImm min
        && range.extent() instanceof Expr.IntImm length
        && extent instanceof Expr.IntImm end
        && min.value() >= 0
        && min.value() + length.value() <= end.value();
  }

  /**
   * Whether a tile of a grid of tiles that covers its buffer may reach beyond the buffer's end.
   * Tiles begin at multiples of their extent, so only those whose extent does not divide it may.
   */
  public static boolean mayReachOut(Region region, int d) {
    long extent = extent(region.ranges().get(d));
    return !(region.buffer().shape().get(d) instanceof Expr.IntImm end)
        || end.value() % extent != 0
        || !CopyLowering.multipleOf(region.ranges().get(d).min(), Math.toIntExact(extent));
  }

  /** Whether an element of such a tile is inside. */
  public static Expr insideOfGrid(Region region, List<Expr> indices) {
    Expr condition = Exprs.bool(true);
    for (int d = 0; d < indices.size(); d++) {
      if (mayReachOut(region, d)) {
        condition = Exprs.and(condition, Exprs.lt(indices.get(d), region.buffer().shape().get(d)));
      }
    }
    return condition;
  }

  /** Constant extent of a tile's dimension. */
  public static long extent(Range range) {
    if (range.extent() instanceof Expr.IntImm imm) {
      return imm.value();
    }
    throw new LoweringException(
        "a tile has the extent " + range.extent() + ", which is not constant");
  }

  /**
   * {@return a value where a condition holds, and zero elsewhere} Choices between the value and
   * zero become one, as a load under a predicate wants it.
   *
   * @param condition of the value
   * @param value maybe a choice itself
   */
  public static Expr where(Expr condition, Expr value) {
    Expr zero = Exprs.zero(value.type());
    return value instanceof Expr.Select(Expr inner, Expr then, Expr otherwise)
            && otherwise.equals(zero)
        ? where(Exprs.and(condition, inner), then)
        : Exprs.select(condition, value, zero);
  }
}
