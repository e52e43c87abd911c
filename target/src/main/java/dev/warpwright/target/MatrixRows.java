package dev.warpwright.target;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import org.jspecify.annotations.Nullable;

/** How the rows of a matrix lie in memory, or of several matrices one behind the other. */
public final class MatrixRows {
  private MatrixRows() {}

  /**
   * {@return whether rows are contiguous and lie a constant distance apart}
   *
   * @param matrix of two dimensions, or of three for several matrices
   */
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
        && stride(layout, 0) > 0;
  }

  private static long stride(Layout layout, int dimension) {
    return layout.dimensions().get(dimension).getFirst().stride();
  }

  /**
   * {@return elements from a row's beginning to that of the next one; the row's constant length if
   * dense}
   *
   * @param matrix of which {@link #are} is true
   */
  public static long leadingDimension(Buffer matrix) {
    Layout layout = matrix.layout();
    int rank = matrix.rank();
    return layout == null ? matrix.extent(rank - 1) : stride(layout, rank - 2);
  }

  /**
   * {@return elements from the beginning of one of several matrices, of constant shape, to that of
   * the next one} They may be interleaved: less than all rows, more than one.
   *
   * @param matrices of three dimensions, of which {@link #are} is true
   */
  public static long distance(Buffer matrices) {
    Layout layout = matrices.layout();
    return layout == null ? matrices.extent(1) * matrices.extent(2) : stride(layout, 0);
  }

  /**
   * {@return the layout of a matrix, or of several; null for dense ones}
   *
   * @param dense without a layout, of two dimensions or three
   * @param pitch elements from a row to the next one
   * @param distance elements from a matrix to the next one; 0 where they follow each other
   */
  public static @Nullable Layout layout(Buffer dense, long pitch, long distance) {
    int rank = dense.rank();
    long rows = dense.extent(rank - 2);
    long columns = dense.extent(rank - 1);
    boolean follow = distance == 0 || distance == rows * pitch;
    if (pitch == columns && (rank == 2 || follow)) {
      return null;
    }
    return rank == 2
        ? Layout.strided(new long[] {rows, columns}, new long[] {pitch, 1})
        : Layout.strided(
            new long[] {dense.extent(0), rows, columns},
            new long[] {follow ? rows * pitch : distance, pitch, 1});
  }
}
