package dev.warpwright.compiler.execute;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import java.lang.reflect.Array;
import java.util.Arrays;

/**
 * Java arrays as the storage of buffers: {@code float[]} for f32, {@code short[]} with the bits of
 * f16 and bf16.
 */
final class HostArrays {
  private HostArrays() {}

  static Object allocate(DType dtype, long elements, String name) {
    if (elements > Integer.MAX_VALUE - 8) {
      throw new UserError(
          "buffer "
              + name
              + " needs "
              + elements
              + " elements, a Java array holds 2^31 - 9; run fewer rows at once");
    }
    int n = (int) elements;
    return switch (dtype) {
      case F32 -> new float[n];
      case F64 -> new double[n];
      case F16, BF16 -> new short[n];
      case I32, U32 -> new int[n];
      case I64, U64, MBARRIER, HANDLE -> new long[n];
      case I8, U8, BOOL, F8E4M3, F8E5M2 -> new byte[n];
    };
  }

  /** The values in an array for the type; the same array for f32. */
  static Object from(float[] values, DType dtype) {
    return switch (dtype) {
      case F32 -> values;
      case F16 -> {
        short[] bits = new short[values.length];
        for (int i = 0; i < bits.length; i++) {
          bits[i] = Float.floatToFloat16(values[i]);
        }
        yield bits;
      }
      case BF16 -> {
        short[] bits = new short[values.length];
        for (int i = 0; i < bits.length; i++) {
          bits[i] = Numerics.bf16Bits(values[i]);
        }
        yield bits;
      }
      case F64, I32, U32, I64, U64, MBARRIER, HANDLE, I8, U8, BOOL, F8E4M3, F8E5M2 ->
          throw new IllegalArgumentException("inputs of type " + dtype + " are not used");
    };
  }

  /** An array of the type that is as long; the same array for f32. */
  static Object like(float[] values, DType dtype) {
    return dtype == DType.F32 ? values : allocate(dtype, values.length, "result");
  }

  /** The values of an array of f32, f16 or bf16. */
  static void widen(Object array, DType dtype, float[] values) {
    if (array == values) {
      return;
    }
    short[] bits = (short[]) array;
    for (int i = 0; i < bits.length; i++) {
      values[i] =
          dtype == DType.F16 ? Float.float16ToFloat(bits[i]) : Float.intBitsToFloat(bits[i] << 16);
    }
  }

  static int length(Object array) {
    return Array.getLength(array);
  }

  /** Sets every byte. */
  static void fill(Object array, int value) {
    byte b = (byte) value;
    int word = (b & 0xFF) * 0x01010101;
    switch (array) {
      case float[] a -> Arrays.fill(a, Float.intBitsToFloat(word));
      case short[] a -> Arrays.fill(a, (short) word);
      case int[] a -> Arrays.fill(a, word);
      case byte[] a -> Arrays.fill(a, b);
      case long[] a -> Arrays.fill(a, (word & 0xFFFF_FFFFL) * 0x1_0000_0001L);
      case double[] a ->
          Arrays.fill(a, Double.longBitsToDouble((word & 0xFFFF_FFFFL) * 0x1_0000_0001L));
      default -> throw new IllegalArgumentException("no storage: " + array.getClass());
    }
  }
}
