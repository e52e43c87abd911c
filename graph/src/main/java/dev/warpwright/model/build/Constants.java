package dev.warpwright.model.build;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Origin;
import dev.warpwright.workload.Pointwise;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Computes constants from constants. Arithmetic is in double precision, rounded once at the end;
 * whole numbers come out as int64. Nothing is checked here.
 */
final class Constants {
  private Constants() {}

  /** A tensor of numbers; truth is 0 or 1. */
  static ConstantTensor of(String name, DType dtype, List<Long> shape, double... values) {
    if (dtype.isFloat()) {
      return ConstantTensor.ofDoubles(name, dtype, shape, values);
    }
    if (dtype == DType.BOOL) {
      byte[] bytes = new byte[values.length];
      for (int i = 0; i < values.length; i++) {
        bytes[i] = (byte) (values[i] != 0 ? 1 : 0);
      }
      return new ConstantTensor(name, dtype, shape, MemorySegment.ofArray(bytes));
    }
    long[] longs = new long[values.length];
    for (int i = 0; i < values.length; i++) {
      longs[i] = (long) values[i];
    }
    return ConstantTensor.ofLongs(name, shape, longs);
  }

  /** The same elements under another shape of the same size. */
  static ConstantTensor reshape(ConstantTensor tensor, List<Long> shape) {
    return shape.equals(tensor.shape())
        ? tensor
        : new ConstantTensor(
            tensor.name(), tensor.dtype(), shape, tensor.data(), new Origin.Reshaped(tensor));
  }

  /** The elements at the given row-major indices. */
  static ConstantTensor pick(ConstantTensor tensor, List<Long> shape, long[] indices) {
    int size = tensor.dtype().bytes();
    MemorySegment from = tensor.data();
    MemorySegment to = Arena.ofAuto().allocate((long) indices.length * size, 64);
    for (int i = 0; i < indices.length; i++) {
      move(from, indices[i], to, i, size);
    }
    return new ConstantTensor(tensor.name(), tensor.dtype(), shape, to);
  }

  /** A matrix with rows and columns exchanged, of any size. */
  static ConstantTensor transpose(ConstantTensor matrix) {
    long rows = matrix.shape().get(0);
    long columns = matrix.shape().get(1);
    int size = matrix.dtype().bytes();
    MemorySegment from = matrix.data();
    MemorySegment to = Arena.ofAuto().allocate(from.byteSize(), 64);
    for (long c = 0; c < columns; c++) {
      for (long r = 0; r < rows; r++) {
        move(from, r * columns + c, to, c * rows + r, size);
      }
    }
    return new ConstantTensor(
        matrix.name(), matrix.dtype(), List.of(columns, rows), to, new Origin.Transposed(matrix));
  }

  private static void move(MemorySegment from, long source, MemorySegment to, long target, int n) {
    switch (n) {
      case 1 -> to.set(JAVA_BYTE, target, from.get(JAVA_BYTE, source));
      case 2 ->
          to.set(JAVA_SHORT_UNALIGNED, target * 2, from.get(JAVA_SHORT_UNALIGNED, source * 2));
      case 4 -> to.set(JAVA_INT_UNALIGNED, target * 4, from.get(JAVA_INT_UNALIGNED, source * 4));
      default -> to.set(JAVA_LONG_UNALIGNED, target * 8, from.get(JAVA_LONG_UNALIGNED, source * 8));
    }
  }

  /** The tensors one after the other along an axis. */
  static ConstantTensor concat(String name, List<ConstantTensor> parts, int axis) {
    List<Long> shape = new ArrayList<>(parts.getFirst().shape());
    shape.set(axis, parts.stream().mapToLong(part -> part.shape().get(axis)).sum());
    double[] values = new double[Math.toIntExact(ConstantTensor.elementCount(shape))];
    long before = product(shape.subList(0, axis));
    int at = 0;
    for (long o = 0; o < before; o++) {
      for (ConstantTensor part : parts) {
        long run = part.count() / Math.max(before, 1);
        for (long i = 0; i < run; i++) {
          values[at++] = part.doubleAt(o * run + i);
        }
      }
    }
    return of(name, parts.getFirst().dtype(), shape, values);
  }

  /** The shape to which shapes broadcast as in NumPy, or null if they do not. */
  static @Nullable List<Long> broadcast(List<List<Long>> shapes) {
    int rank = shapes.stream().mapToInt(List::size).max().orElse(0);
    List<Long> result = new ArrayList<>();
    for (int d = 0; d < rank; d++) {
      long extent = 1;
      for (List<Long> shape : shapes) {
        int at = d - (rank - shape.size());
        long own = at < 0 ? 1 : shape.get(at);
        if (own != 1 && extent != 1 && own != extent) {
          return null;
        }
        extent = own == 1 ? extent : own;
      }
      result.add(extent);
    }
    return result;
  }

  /**
   * For each element of a shape, row-major, the index of the element of the smaller shape that is
   * broadcast to it.
   */
  static long[] sources(List<Long> from, List<Long> to) {
    long[] indices = new long[Math.toIntExact(ConstantTensor.elementCount(to))];
    int pad = to.size() - from.size();
    for (int i = 0; i < indices.length; i++) {
      long rest = i;
      long index = 0;
      long step = 1;
      for (int d = to.size() - 1; d >= 0; d--) {
        long coordinate = rest % to.get(d);
        rest /= to.get(d);
        if (d >= pad) {
          long extent = from.get(d - pad);
          index += extent == 1 ? 0 : coordinate * step;
          step *= extent;
        }
      }
      indices[i] = index;
    }
    return indices;
  }

  /** For each element of a permuted tensor the index that it had. */
  static long[] permuted(List<Long> shape, List<Integer> perm) {
    long[] steps = new long[shape.size()];
    long step = 1;
    for (int d = shape.size() - 1; d >= 0; d--) {
      steps[d] = step;
      step *= shape.get(d);
    }
    long[] indices = new long[Math.toIntExact(step)];
    for (int i = 0; i < indices.length; i++) {
      long rest = i;
      for (int d = perm.size() - 1; d >= 0; d--) {
        long extent = shape.get(perm.get(d));
        indices[i] += rest % extent * steps[perm.get(d)];
        rest /= extent;
      }
    }
    return indices;
  }

  /**
   * An elementwise operator on constants.
   *
   * @param shape what the operands broadcast to
   */
  static ConstantTensor apply(
      String name, Pointwise op, List<ConstantTensor> operands, List<Long> shape) {
    ConstantTensor typed = op == ElementwiseOp.WHERE ? operands.get(1) : operands.getFirst();
    DType dtype = op.isTruth() ? DType.BOOL : typed.dtype();
    double[] values = new double[Math.toIntExact(ConstantTensor.elementCount(shape))];
    List<long[]> sources = operands.stream().map(o -> sources(o.shape(), shape)).toList();
    for (int i = 0; i < values.length; i++) {
      double[] x = new double[3];
      for (int o = 0; o < operands.size(); o++) {
        x[o] = operands.get(o).doubleAt(sources.get(o)[i]);
      }
      values[i] = op.apply(x[0], x[1], x[2]);
    }
    return of(name, dtype, shape, values);
  }

  static long product(List<Long> dims) {
    return dims.stream().mapToLong(d -> d).reduce(1, (a, b) -> a * b);
  }
}
