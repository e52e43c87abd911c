package dev.warpwright.lower;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import java.lang.reflect.Array;

/** Moves the elements of an array to where another form of its buffer wants them. */
final class Packing {
  private Packing() {}

  /**
   * A new array with the elements of another; what no element goes to is zero.
   *
   * @param from form of {@code array}, of constant shape
   * @param array storage of {@code from}
   * @param where coordinates of {@code from} to the element offset in the result, without swizzle
   * @param size elements of the result
   */
  static Object pack(Buffer from, Object array, Layout where, long size) {
    if (where.rank() != from.rank() || !where.swizzle().isIdentity()) {
      throw new IllegalArgumentException(from + " cannot be packed by " + where);
    }
    Object packed = Array.newInstance(array.getClass().componentType(), Math.toIntExact(size));
    if (from.rank() == 0) {
      System.arraycopy(array, 0, packed, 0, 1);
      return packed;
    }
    int[][] source = offsets(from, form(from));
    int[][] target = offsets(from, where);
    int rows = 1;
    for (int d = 0; d < from.rank() - 1; d++) {
      rows = Math.multiplyExact(rows, (int) from.extent(d));
    }
    int[] at = new int[from.rank()];
    for (int row = 0; row < rows; row++) {
      int sourceBase = 0;
      int targetBase = 0;
      for (int d = 0; d < at.length - 1; d++) {
        sourceBase += source[d][at[d]];
        targetBase += target[d][at[d]];
      }
      moveRow(array, packed, sourceBase, targetBase, source[at.length - 1], target[at.length - 1]);
      for (int d = at.length - 2; d >= 0 && ++at[d] == from.extent(d); d--) {
        at[d] = 0;
      }
    }
    return packed;
  }

  private static void moveRow(
      Object array, Object packed, int sourceBase, int targetBase, int[] source, int[] target) {
    switch (array) {
      case float[] a -> {
        float[] p = (float[]) packed;
        for (int j = 0; j < source.length; j++) {
          p[targetBase + target[j]] = a[sourceBase + source[j]];
        }
      }
      case short[] a -> {
        short[] p = (short[]) packed;
        for (int j = 0; j < source.length; j++) {
          p[targetBase + target[j]] = a[sourceBase + source[j]];
        }
      }
      default -> {
        for (int j = 0; j < source.length; j++) {
          Array.set(packed, targetBase + target[j], Array.get(array, sourceBase + source[j]));
        }
      }
    }
  }

  private static Layout form(Buffer buffer) {
    Layout layout = buffer.layout();
    if (layout != null) {
      return layout;
    }
    long[] extents = new long[buffer.rank()];
    for (int d = 0; d < extents.length; d++) {
      extents[d] = buffer.extent(d);
    }
    return Layout.rowMajor(extents);
  }

  /** For each dimension, what each coordinate adds to the offset. */
  private static int[][] offsets(Buffer shape, Layout layout) {
    int[][] offsets = new int[shape.rank()][];
    long[] at = new long[shape.rank()];
    for (int d = 0; d < shape.rank(); d++) {
      offsets[d] = new int[(int) shape.extent(d)];
      for (int i = 0; i < offsets[d].length; i++) {
        at[d] = i;
        offsets[d][i] = Math.toIntExact(layout.offset(at));
      }
      at[d] = 0;
    }
    return offsets;
  }
}
