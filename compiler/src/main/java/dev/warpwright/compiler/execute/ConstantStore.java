package dev.warpwright.compiler.execute;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.model.graph.ConstantTensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Packs constants: converted to the buffer's type, padded with zeros, laid out as its layout says.
 * Programs for different row counts that want the same form share it.
 */
public final class ConstantStore {
  private record Key(
      ConstantTensor source,
      boolean transposed,
      DType dtype,
      List<Long> shape,
      @Nullable Layout layout) {}

  private final Map<Key, Object> packed = new HashMap<>();

  /**
   * The elements as a Java array in storage order: {@code float[]}, {@code int[]}, or {@code
   * short[]} with the bits of f16 and bf16.
   */
  public synchronized Object array(PackedConstant constant) {
    Buffer buffer = constant.buffer();
    List<Long> shape =
        LongStream.range(0, buffer.rank()).mapToObj(d -> buffer.extent((int) d)).toList();
    Key key =
        new Key(
            constant.constant().source(),
            constant.constant().transposed(),
            buffer.dtype(),
            shape,
            constant.where());
    return packed.computeIfAbsent(key, k -> pack(constant));
  }

  /** The memory of the same array. */
  public MemorySegment segment(PackedConstant constant) {
    return Elements.segment(array(constant));
  }

  private static Object pack(PackedConstant constant) {
    Buffer buffer = constant.buffer();
    long elements = buffer.storageElements();
    if (elements > Integer.MAX_VALUE - 8) {
      throw new UserError(
          "constant "
              + constant.constant().source().name()
              + " has "
              + elements
              + " elements, more than 2^31 - 9");
    }
    return switch (buffer.dtype()) {
      case F32 -> {
        float[] array = new float[(int) elements];
        each(constant, (at, value) -> array[at] = (float) value);
        yield array;
      }
      case F16 -> {
        short[] array = new short[(int) elements];
        each(constant, (at, value) -> array[at] = Numerics.f16Bits(value));
        yield array;
      }
      case BF16 -> {
        short[] array = new short[(int) elements];
        each(constant, (at, value) -> array[at] = Numerics.bf16Bits(value));
        yield array;
      }
      case I32 -> {
        int[] array = new int[(int) elements];
        each(constant, (at, value) -> array[at] = (int) value);
        yield array;
      }
      case F64, BOOL, I8, U8, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
          throw new IllegalArgumentException(
              "constants of type " + buffer.dtype() + " are not used");
    };
  }

  @FunctionalInterface
  private interface Sink {
    void put(int at, double value);
  }

  private static void each(PackedConstant constant, Sink sink) {
    Buffer buffer = constant.constant().buffer();
    Layout layout = constant.where();
    ConstantTensor source = constant.constant().source();
    boolean transposed = constant.constant().transposed();
    long n = source.shape().getFirst();
    long k = source.rank() == 1 ? 1 : source.shape().get(1);
    int rows = (int) buffer.extent(0);
    int cols = buffer.rank() == 1 ? 1 : (int) buffer.extent(1);
    boolean matrix = buffer.rank() > 1;
    long[] rowOffsets = new long[rows];
    long[] colOffsets = new long[cols];
    if (layout == null) {
      Arrays.setAll(rowOffsets, r -> (long) r * cols);
      Arrays.setAll(colOffsets, c -> c);
    } else {
      // before the swizzle, what the offset is of a row and of a column can be added
      Layout linear = new Layout(layout.dimensions(), Swizzle.NONE);
      Arrays.setAll(rowOffsets, r -> matrix ? linear.offset(r, 0) : linear.offset(r));
      Arrays.setAll(colOffsets, c -> matrix ? linear.offset(0, c) : 0);
    }
    for (int r = 0; r < rows; r++) {
      for (int c = 0; c < cols; c++) {
        long row = transposed ? c : r;
        long col = transposed ? r : c;
        long offset = rowOffsets[r] + colOffsets[c];
        if (layout != null) {
          offset = layout.swizzle().apply(offset);
        }
        sink.put((int) offset, row < n && col < k ? source.doubleAt(row * k + col) : 0);
      }
    }
  }
}
