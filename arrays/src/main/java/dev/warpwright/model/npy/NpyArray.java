package dev.warpwright.model.npy;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.warpwright.model.graph.ConstantTensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/**
 * An array: dense and row-major, whatever the order in the file.
 *
 * @param shape empty for a scalar
 * @param data the elements, little-endian, of any alignment
 */
public record NpyArray(List<Long> shape, NpyType type, MemorySegment data) {
  private static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;
  private static final ValueLayout.OfShort SHORT = JAVA_SHORT_UNALIGNED.withOrder(LE);
  private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(LE);
  private static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED.withOrder(LE);
  private static final ValueLayout.OfFloat FLOAT = JAVA_FLOAT_UNALIGNED.withOrder(LE);
  private static final ValueLayout.OfDouble DOUBLE = JAVA_DOUBLE_UNALIGNED.withOrder(LE);

  public NpyArray {
    shape = List.copyOf(shape);
    long count = ConstantTensor.elementCount(shape);
    if (count < 0
        || data.byteSize() / type.bytes() != count
        || data.byteSize() % type.bytes() != 0) {
      throw new IllegalArgumentException(
          data.byteSize() + " bytes do not fit shape " + shape + " of " + type.code());
    }
  }

  /** The number of elements. */
  public long count() {
    return data.byteSize() / type.bytes();
  }

  /** The element at a row-major index; 64-bit integers are rounded. */
  public double doubleAt(long i) {
    return switch (type) {
      case F8 -> data.get(DOUBLE, i * 8);
      case F4 -> data.get(FLOAT, i * 4);
      case F2 -> Float.float16ToFloat(data.get(SHORT, i * 2));
      case U8 -> {
        long bits = data.get(LONG, i * 8);
        // halving keeps the lowest bit sticky, so that the rounding is that of the whole number
        yield bits >= 0 ? bits : 2.0 * (bits >>> 1 | bits & 1);
      }
      case BOOL, I1, I2, I4, I8, U1, U2, U4 -> longAt(i);
    };
  }

  /**
   * The element of an integer or boolean array at a row-major index; u8 as its 64 bits.
   *
   * @throws IllegalStateException if the array is floating point
   */
  public long longAt(long i) {
    return switch (type) {
      case BOOL -> data.get(JAVA_BYTE, i) != 0 ? 1 : 0;
      case I1 -> data.get(JAVA_BYTE, i);
      case U1 -> Byte.toUnsignedLong(data.get(JAVA_BYTE, i));
      case I2 -> data.get(SHORT, i * 2);
      case U2 -> Short.toUnsignedLong(data.get(SHORT, i * 2));
      case I4 -> data.get(INT, i * 4);
      case U4 -> Integer.toUnsignedLong(data.get(INT, i * 4));
      case I8, U8 -> data.get(LONG, i * 8);
      case F2, F4, F8 -> throw new IllegalStateException("an array of floats has no integers");
    };
  }

  /** All elements, rounded to float where needed. */
  public float[] toFloats() {
    float[] out = new float[arrayLength()];
    if (type == NpyType.F4) {
      MemorySegment.copy(data, FLOAT, 0, out, 0, out.length);
    } else {
      for (int i = 0; i < out.length; i++) {
        out[i] = (float) doubleAt(i);
      }
    }
    return out;
  }

  /** All elements as {@link #doubleAt}. */
  public double[] toDoubles() {
    double[] out = new double[arrayLength()];
    for (int i = 0; i < out.length; i++) {
      out[i] = doubleAt(i);
    }
    return out;
  }

  private int arrayLength() {
    if (count() > Integer.MAX_VALUE - 8) {
      throw new IllegalStateException(count() + " elements do not fit into a Java array");
    }
    return (int) count();
  }
}
