package dev.warpwright.model.graph;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Changed copies of weights. */
final class Matrices {
  private Matrices() {}

  /** A single-precision matrix of the same shape. */
  interface Entry {
    double at(int row, int column, double old);
  }

  /** Each element replaced; of the weight's own type. */
  static ConstantTensor map(ConstantTensor weight, Entry entry) {
    int rows = Math.toIntExact(weight.shape().get(0));
    int columns = Math.toIntExact(weight.shape().get(1));
    double[] values = new double[Math.multiplyExact(rows, columns)];
    for (int n = 0; n < rows; n++) {
      for (int k = 0; k < columns; k++) {
        values[n * columns + k] = entry.at(n, k, weight.doubleAt((long) n * columns + k));
      }
    }
    return ConstantTensor.ofDoubles(weight.name(), weight.dtype(), weight.shape(), values);
  }

  /**
   * A matrix of chosen elements.
   *
   * @param sources the row-major index of each element, or -1 for zero
   */
  static ConstantTensor pick(ConstantTensor weight, int rows, int columns, Sources sources) {
    int size = weight.dtype().bytes();
    MemorySegment to = Arena.ofAuto().allocate((long) rows * columns * size, 64);
    for (int n = 0; n < rows; n++) {
      for (int k = 0; k < columns; k++) {
        long source = sources.of(n, k);
        if (source >= 0) {
          MemorySegment.copy(
              weight.data(), source * size, to, ((long) n * columns + k) * size, size);
        }
      }
    }
    return new ConstantTensor(
        weight.name(), weight.dtype(), List.of((long) rows, (long) columns), to);
  }

  /** A picked tensor, which is a block of another one from a row and a column on. */
  static ConstantTensor block(ConstantTensor from, long row, long column, ConstantTensor picked) {
    return new ConstantTensor(
        picked.name(),
        picked.dtype(),
        picked.shape(),
        picked.data(),
        new Origin.Block(from, row, column));
  }

  /** Where the elements of a picked matrix come from. */
  interface Sources {
    long of(int row, int column);
  }
}
