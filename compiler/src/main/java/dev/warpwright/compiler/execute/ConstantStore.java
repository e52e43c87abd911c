package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Numerics;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.layout.Layout;
import dev.warpwright.model.graph.Tensor;
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
      Tensor source, boolean transposed, DType dtype, List<Long> shape, @Nullable Layout layout) {}

  private final Map<Key, Object> packed = new HashMap<>();

  /**
   * The elements as a Java array in storage order: {@code float[]}, or {@code short[]} with the
   * bits of f16 and bf16.
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
      case F64, BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
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
    long rows = buffer.extent(0);
    long cols = buffer.rank() == 1 ? 1 : buffer.extent(1);
    for (long i = 0; i < rows; i++) {
      for (long j = 0; j < cols; j++) {
        long[] at = buffer.rank() == 1 ? new long[] {i} : new long[] {i, j};
        long offset = layout == null ? i * cols + j : layout.offset(at);
        sink.put((int) offset, constant.constant().element(at));
      }
    }
  }
}
