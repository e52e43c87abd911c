package dev.warpwright.model.onnx;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * Computes constants from constants. Arithmetic is in double precision, rounded once at the end.
 */
final class ConstantFolder {
  private ConstantFolder() {}

  /** A matrix with rows and columns exchanged. */
  static Tensor transpose(Tensor matrix) {
    long rows = matrix.shape().get(0);
    long columns = matrix.shape().get(1);
    int size = matrix.dtype().bytes();
    MemorySegment from = matrix.data();
    MemorySegment to = Arena.ofAuto().allocate(from.byteSize(), 64);
    for (long c = 0; c < columns; c++) {
      for (long r = 0; r < rows; r++) {
        long source = (r * columns + c) * size;
        long target = (c * rows + r) * size;
        switch (size) {
          case 1 -> to.set(JAVA_BYTE, target, from.get(JAVA_BYTE, source));
          case 2 -> to.set(JAVA_SHORT_UNALIGNED, target, from.get(JAVA_SHORT_UNALIGNED, source));
          case 4 -> to.set(JAVA_INT_UNALIGNED, target, from.get(JAVA_INT_UNALIGNED, source));
          default -> to.set(JAVA_LONG_UNALIGNED, target, from.get(JAVA_LONG_UNALIGNED, source));
        }
      }
    }
    return new Tensor(matrix.name(), matrix.dtype(), List.of(columns, rows), to);
  }

  /** The same elements under another shape of the same size. */
  static Tensor reshape(Tensor tensor, List<Long> shape) {
    return new Tensor(tensor.name(), tensor.dtype(), shape, tensor.data());
  }

  /** A vector of {@code count} copies of a scalar. */
  static Tensor repeat(Tensor scalar, int count) {
    double[] values = new double[count];
    Arrays.fill(values, scalar.doubleAt(0));
    return Tensor.ofDoubles(scalar.name(), scalar.dtype(), List.of((long) count), values);
  }

  /**
   * An elementwise operator on constants of equal type: both of the same shape, or one a scalar.
   *
   * @param name the name of the result
   */
  static Tensor apply(String name, ElementwiseOp op, Tensor a, Tensor b) {
    Tensor shaped = a.rank() == 0 ? b : a;
    double[] values = new double[Math.toIntExact(shaped.count())];
    for (int i = 0; i < values.length; i++) {
      values[i] = op.apply(a.doubleAt(a.count() == 1 ? 0 : i), b.doubleAt(b.count() == 1 ? 0 : i));
    }
    return Tensor.ofDoubles(name, shaped.dtype(), shaped.shape(), values);
  }
}
