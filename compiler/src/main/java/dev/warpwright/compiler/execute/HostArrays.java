package dev.warpwright.compiler.execute;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
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
