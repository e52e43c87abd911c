package dev.warpwright.target;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.layout.Layout;
import org.jspecify.annotations.Nullable;

/** How the rows of a matrix lie in memory, or of several matrices one behind the other. */
public final class MatrixRows {
  private MatrixRows() {}

  /** Whether rows are contiguous and lie a constant distance apart. */
  public static boolean are(Buffer matrix) {
    int rank = matrix.rank();
    Layout layout = matrix.layout();
    if (rank != 2 && rank != 3) {
      return false;
    }
    if (layout == null) {
      return true;
    }
    return layout.swizzle().isIdentity()
        && layout.dimensions().stream().allMatch(modes -> modes.size() == 1)
        && stride(layout, rank - 1) == 1
        && (rank == 2 || stride(layout, 0) == layout.extent(1) * stride(layout, 1));
  }

  private static long stride(Layout layout, int dimension) {
    return layout.dimensions().get(dimension).getFirst().stride();
  }

  /**
   * Elements from a row's beginning to that of the next one; the row's constant length if dense.
   */
  public static long pitch(Buffer matrix) {
    Layout layout = matrix.layout();
    int rank = matrix.rank();
    return layout == null ? matrix.extent(rank - 1) : stride(layout, rank - 2);
  }

  /** The layout of a matrix whose rows lie so many elements apart; null for dense ones. */
  public static @Nullable Layout layout(Buffer dense, long pitch) {
    int rank = dense.rank();
    if (pitch == dense.extent(rank - 1)) {
      return null;
    }
    long[] shape = new long[rank];
    long[] strides = new long[rank];
    long stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
      shape[d] = dense.extent(d);
      strides[d] = stride;
      stride = d == rank - 1 ? pitch : stride * shape[d];
    }
    return Layout.strided(shape, strides);
  }
}
