package dev.warpwright.lower.tile;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Region;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * In which order columns of constants come, so that a thread of a matrix product has neighbours:
 * what {@link PackConstants} permutes, as expressions of a place and as modes of a layout.
 */
final class ColumnOrder {
  /** Where the bits of a column go, by their weights: the inverse of {@link #column}. */
  static final int[] BITS_OF_32 = {1, 8, 16, 2, 4};

  static final int[] BITS_OF_16 = {1, 8, 2, 4};

  /** The same of columns in tf32 that come from memory, and from accumulators. */
  static final int[] BITS_OF_ROWS = {4, 8, 1, 2};

  static final int[] BITS_OF_SUMS = {4, 1, 2, 8};

  private ColumnOrder() {}

  /** Where the coordinates of a dimension go, in elements of the packed buffer. */
  static List<Mode> modes(Buffer packed, int dimension, int @Nullable [] bits) {
    long extent = packed.extent(dimension);
    if (bits == null) {
      return packed.layout() == null
          ? List.of(new Mode(extent, offset(packed, dimension, 1)))
          : packed.layout().dimensions().get(dimension);
    }
    List<Mode> modes = new ArrayList<>();
    int group = 1 << bits.length;
    for (int weight : bits) {
      modes.add(new Mode(2, offset(packed, dimension, weight)));
    }
    modes.addAll(behind(packed, dimension, group));
    return modes;
  }

  /** Where groups of so many coordinates go. */
  private static List<Mode> behind(Buffer packed, int dimension, int group) {
    Layout layout = packed.layout();
    if (layout == null) {
      return List.of(new Mode(packed.extent(dimension) / group, offset(packed, dimension, group)));
    }
    List<Mode> modes = new ArrayList<>();
    long left = group;
    for (Mode mode : layout.dimensions().get(dimension)) {
      long taken = Math.min(left, mode.extent());
      if (left % taken != 0 || mode.extent() % taken != 0) {
        throw new IllegalStateException(
            packed.name() + ": groups of " + group + " do not fit " + layout);
      }
      left /= taken;
      if (taken < mode.extent()) {
        modes.add(new Mode(mode.extent() / taken, mode.stride() * taken));
      }
    }
    return modes.isEmpty() ? List.of(new Mode(1, 0)) : modes;
  }

  /** Where the element at this coordinate, and 0 in the other dimensions, is before the swizzle. */
  static long offset(Buffer packed, int dimension, long coordinate) {
    long[] shape = new long[packed.rank()];
    long[] at = new long[packed.rank()];
    for (int d = 0; d < shape.length; d++) {
      shape[d] = packed.extent(d);
    }
    at[dimension] = coordinate;
    Layout layout = packed.layout();
    return layout == null
        ? Layout.rowMajor(shape).offset(at)
        : new Layout(layout.dimensions(), Layout.Swizzle.NONE).offset(at);
  }

  static int[] bits(int group) {
    return group == 32 ? BITS_OF_32 : BITS_OF_16;
  }

  /** The column of rows by 16 bytes that stands at a place of an operand in tf32. */
  static Expr columnOfRow(Expr at) {
    Expr thread = Exprs.mul(Exprs.mod(at, 4), 4);
    Expr step = Exprs.mul(Exprs.div(Exprs.mod(at, 16), 8), 2);
    Expr half = Exprs.div(Exprs.mod(at, 8), 4);
    Expr group = Exprs.mul(Exprs.div(at, 16), 16);
    return Exprs.add(Exprs.add(group, thread), Exprs.add(step, half));
  }

  /** The column of accumulators that stands at a place of an operand in tf32. */
  static Expr columnOfSum(Expr at) {
    Expr group = Exprs.mul(Exprs.div(at, 8), 8);
    Expr thread = Exprs.mul(Exprs.mod(at, 4), 2);
    return Exprs.add(Exprs.add(group, thread), Exprs.div(Exprs.mod(at, 8), 4));
  }

  /** The column that stands at a place, in groups of so many: p of {@link PackConstants}. */
  static Expr column(Expr at, int among) {
    if (among == 16) {
      Expr groups = Exprs.mul(Exprs.div(at, 16), 16);
      Expr quarter = Exprs.mul(Exprs.div(Exprs.mod(at, 8), 2), 4);
      Expr half = Exprs.mul(Exprs.div(Exprs.mod(at, 16), 8), 2);
      return Exprs.add(Exprs.add(groups, quarter), Exprs.add(half, Exprs.mod(at, 2)));
    }
    Expr group = Exprs.mul(Exprs.div(at, 32), 32);
    Expr high = Exprs.mul(Exprs.div(Exprs.mod(at, 8), 2), 8);
    Expr middle = Exprs.mul(Exprs.div(Exprs.mod(at, 32), 16), 4);
    Expr low = Exprs.mul(Exprs.div(Exprs.mod(at, 16), 8), 2);
    Expr sum = Exprs.add(Exprs.add(group, high), Exprs.add(middle, low));
    return Exprs.add(sum, Exprs.mod(at, 2));
  }

  /** Whether the product takes whole groups of the operand's columns. */
  static boolean inGroups(Region region, int group) {
    var columns = region.ranges().getLast();
    return columns.extent() instanceof Expr.IntImm(var type, long n)
        && n % group == 0
        && isMultiple(columns.min(), group);
  }

  static boolean isMultiple(Expr e, int group) {
    return switch (e) {
      case Expr.IntImm imm -> imm.value() % group == 0;
      case Expr.Binary(BinaryOp op, Expr a, Expr b) ->
          op == BinaryOp.MUL && (isMultiple(a, group) || isMultiple(b, group));
      default -> false;
    };
  }
}
