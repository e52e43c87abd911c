package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Scope;
import dev.warpwright.lower.gpu.OperandRing;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The layout of tiles in shared memory that TMA copies and warpgroup products share: panels of rows
 * of 128, 64 or 32 bytes next to each other, swizzled over that width, as one layout of a matrix or
 * of several one behind the other.
 */
final class SwizzledTile {
  private SwizzledTile() {}

  /** The tile in this layout; null if its rows are no multiple of 32 bytes. */
  static @Nullable Buffer of(Buffer tile) {
    return of(tile, false);
  }

  /** The tile as its transpose would lie; null if its columns are no multiple of 32 bytes. */
  static @Nullable Buffer transposed(Buffer tile) {
    return of(tile, true);
  }

  private static @Nullable Buffer of(Buffer tile, boolean transposed) {
    int rank = tile.rank();
    int bytes = tile.dtype().bytes();
    if (rank != 2 && rank != 3) {
      return null;
    }
    long rows = tile.extent(transposed ? rank - 1 : rank - 2);
    long columns = tile.extent(transposed ? rank - 2 : rank - 1);
    long width = OperandRing.panelWidth(columns, bytes);
    if (width == 0) {
      return null;
    }
    List<List<Mode>> dimensions = new ArrayList<>();
    if (rank == 3) {
      dimensions.add(List.of(new Mode(tile.extent(0), rows * columns)));
    }
    dimensions.add(List.of(new Mode(rows, width)));
    dimensions.add(
        transposed ? dimensions.size() - 1 : dimensions.size(),
        columns == width
            ? List.of(new Mode(width, 1))
            : List.of(new Mode(width, 1), new Mode(columns / width, rows * width)));
    return new Buffer(
        tile.name(),
        tile.dtype(),
        tile.shape(),
        tile.scope(),
        new Layout(dimensions, OperandRing.swizzle(width, bytes)),
        OperandRing.alignment(width, bytes));
  }

  /** The tile for reads of single elements across its rows ({@link OperandRing#gathering}). */
  static @Nullable Buffer gathered(Buffer tile) {
    Buffer swizzled = of(tile);
    return swizzled == null
        ? null
        : withSwizzle(swizzled, OperandRing.gathering(width(swizzled), tile.dtype().bytes()));
  }

  private static Buffer withSwizzle(Buffer tile, Layout.Swizzle swizzle) {
    return tile.withLayout(new Layout(Objects.requireNonNull(tile.layout()).dimensions(), swizzle));
  }

  /** Columns of a panel of such a tile, or, of one that lies as its transpose, rows. */
  static long width(Buffer tile) {
    Layout layout = Objects.requireNonNull(tile.layout());
    List<List<Mode>> dimensions = layout.dimensions();
    return dimensions.get(dimensions.size() - (isTransposed(tile) ? 2 : 1)).getFirst().extent();
  }

  /** Whether a tile lies as its transpose would: neighbours are in a column. */
  static boolean isTransposed(Buffer tile) {
    Layout layout = tile.layout();
    if (layout == null || layout.dimensions().size() < 2) {
      return false;
    }
    List<List<Mode>> dimensions = layout.dimensions();
    Mode column = dimensions.get(dimensions.size() - 2).getFirst();
    return column.stride() == 1 && column.extent() > 1;
  }

  /** The same tile so many times. */
  static Buffer ring(Buffer tile, long stages) {
    List<Expr> shape = new ArrayList<>();
    shape.add(Exprs.i32(stages));
    shape.addAll(tile.shape());
    Buffer plain = Buffer.of(tile.name(), tile.dtype(), Scope.SHARED, shape);
    Buffer ring = Objects.requireNonNull(of(plain, isTransposed(tile)));
    return tile.layout() == null ? ring : withSwizzle(ring, tile.layout().swizzle());
  }

  /** What addresses of such tiles, one behind the other, are made of. */
  static OperandRing operands(Buffer ring) {
    Buffer tile =
        Buffer.of(ring.name(), ring.dtype(), Scope.SHARED, ring.extent(1), ring.extent(2));
    OperandRing operands =
        isTransposed(ring)
            ? OperandRing.transposed(tile, ring.extent(0))
            : OperandRing.of(tile, ring.extent(0));
    return operands.withSwizzle(Objects.requireNonNull(ring.layout()).swizzle());
  }
}
