package dev.warpwright.compiler.execute;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.buffer.ArrayTensor;
import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.buffer.SegmentTensor;
import dev.warpwright.compiler.buffer.TensorBuffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Moves elements between what callers have and what kernels take: copied, rounded or widened. */
final class Elements {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;

  private Elements() {}

  /**
   * The memory of a host.
   *
   * @throws UserError if it is a GPU's
   */
  static MemorySegment segment(TensorBuffer buffer) {
    return switch (buffer) {
      case ArrayTensor array -> segment(array.array());
      case SegmentTensor(MemorySegment segment, DType _) -> segment;
      case DeviceBuffer device -> {
        ArrayTensor array = device.array();
        if (array == null) {
          throw new UserError("the device buffer is a GPU's; the model runs elsewhere");
        }
        yield segment(array.array());
      }
    };
  }

  static MemorySegment segment(Object array) {
    return switch (array) {
      case float[] a -> MemorySegment.ofArray(a);
      case short[] a -> MemorySegment.ofArray(a);
      case int[] a -> MemorySegment.ofArray(a);
      default -> throw new IllegalArgumentException("no storage: " + array.getClass());
    };
  }

  /** The Java array of a host's memory that is one, of this type; null if it must be copied. */
  static @Nullable Object array(TensorBuffer buffer, DType type) {
    return switch (buffer) {
      case ArrayTensor array -> array.type() == type ? array.array() : null;
      case SegmentTensor _ -> null;
      case DeviceBuffer device -> {
        ArrayTensor array = device.array();
        yield array == null || array.type() != type ? null : array.array();
      }
    };
  }

  /** Moves the first elements of one memory to the start of another. */
  static void move(
      MemorySegment from, DType fromType, MemorySegment to, DType toType, long elements) {
    if (fromType == toType) {
      MemorySegment.copy(from, 0, to, 0, elements * fromType.bytes());
      return;
    }
    for (long i = 0; i < elements; i++) {
      float value = fromType == DType.F32 ? from.get(FLOAT, 4 * i) : wide(from, fromType, i);
      if (toType == DType.F32) {
        to.set(FLOAT, 4 * i, value);
      } else {
        short bits = toType == DType.F16 ? Float.floatToFloat16(value) : Numerics.bf16Bits(value);
        to.set(SHORT, 2 * i, bits);
      }
    }
  }

  private static float wide(MemorySegment from, DType type, long index) {
    short bits = from.get(SHORT, 2 * index);
    return type == DType.F16 ? Float.float16ToFloat(bits) : Float.intBitsToFloat(bits << 16);
  }
}
