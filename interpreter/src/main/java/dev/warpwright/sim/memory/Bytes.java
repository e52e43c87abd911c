package dev.warpwright.sim.memory;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Typed access to little-endian bytes at any alignment. Offsets are in bytes. */
public final class Bytes {
  private static final VarHandle SHORT = view(short[].class);
  private static final VarHandle INT = view(int[].class);
  private static final VarHandle LONG = view(long[].class);
  private static final VarHandle FLOAT = view(float[].class);
  private static final VarHandle DOUBLE = view(double[].class);

  private Bytes() {}

  private static VarHandle view(Class<?> type) {
    return MethodHandles.byteArrayViewVarHandle(type, ByteOrder.LITTLE_ENDIAN);
  }

  public static short getShort(byte[] b, int at) {
    return (short) SHORT.get(b, at);
  }

  public static void putShort(byte[] b, int at, short value) {
    SHORT.set(b, at, value);
  }

  public static int getInt(byte[] b, int at) {
    return (int) INT.get(b, at);
  }

  public static void putInt(byte[] b, int at, int value) {
    INT.set(b, at, value);
  }

  static long getLong(byte[] b, int at) {
    return (long) LONG.get(b, at);
  }

  static void putLong(byte[] b, int at, long value) {
    LONG.set(b, at, value);
  }

  public static float getFloat(byte[] b, int at) {
    return (float) FLOAT.get(b, at);
  }

  public static void putFloat(byte[] b, int at, float value) {
    FLOAT.set(b, at, value);
  }

  public static double getDouble(byte[] b, int at) {
    return (double) DOUBLE.get(b, at);
  }

  public static void putDouble(byte[] b, int at, double value) {
    DOUBLE.set(b, at, value);
  }

  /** The value of an element of a float type. */
  public static double real(DType dtype, byte[] b, int at) {
    return switch (dtype) {
      case F64 -> getDouble(b, at);
      case F32 -> getFloat(b, at);
      case F16 -> Numerics.f16ToFloat(getShort(b, at));
      case BF16 -> Numerics.bf16ToFloat(getShort(b, at));
      case F8E4M3 -> Numerics.e4m3ToFloat(b[at]);
      case F8E5M2 -> Numerics.e5m2ToFloat(b[at]);
      case BOOL, I8, U8, I32, U32, I64, U64, MBARRIER, HANDLE ->
          throw new IllegalArgumentException(dtype + " is no float type");
    };
  }

  /** Stores a value rounded to a float type. */
  public static void putReal(DType dtype, byte[] b, int at, double value) {
    switch (dtype) {
      case F64 -> putDouble(b, at, value);
      case F32 -> putFloat(b, at, (float) value);
      case F16 -> putShort(b, at, Numerics.f16Bits(value));
      case BF16 -> putShort(b, at, Numerics.bf16Bits(value));
      case F8E4M3 -> b[at] = Numerics.e4m3Bits(value);
      case F8E5M2 -> b[at] = Numerics.e5m2Bits(value);
      case BOOL, I8, U8, I32, U32, I64, U64, MBARRIER, HANDLE ->
          throw new IllegalArgumentException(dtype + " is no float type");
    }
  }

  /** The value of an element of an integer or boolean type. */
  public static long integer(DType dtype, byte[] b, int at) {
    return switch (dtype) {
      case BOOL -> b[at] != 0 ? 1 : 0;
      case I8 -> b[at];
      case U8 -> b[at] & 0xFF;
      case I32 -> getInt(b, at);
      case U32 -> getInt(b, at) & 0xFFFF_FFFFL;
      case I64, U64, MBARRIER, HANDLE -> getLong(b, at);
      case F8E4M3, F8E5M2, F16, BF16, F32, F64 ->
          throw new IllegalArgumentException(dtype + " is no integer type");
    };
  }

  /** Stores a value wrapped to an integer or boolean type. */
  public static void putInteger(DType dtype, byte[] b, int at, long value) {
    switch (dtype) {
      case BOOL -> b[at] = (byte) (value != 0 ? 1 : 0);
      case I8, U8 -> b[at] = (byte) value;
      case I32, U32 -> putInt(b, at, (int) value);
      case I64, U64, MBARRIER, HANDLE -> putLong(b, at, value);
      case F8E4M3, F8E5M2, F16, BF16, F32, F64 ->
          throw new IllegalArgumentException(dtype + " is no integer type");
    }
  }

  /** Raw bits of an element, in the low bits. */
  public static long bits(DType dtype, byte[] b, int at) {
    return switch (dtype.bits()) {
      case 8 -> b[at] & 0xFF;
      case 16 -> getShort(b, at) & 0xFFFF;
      case 32 -> getInt(b, at) & 0xFFFF_FFFFL;
      default -> getLong(b, at);
    };
  }

  static void putBits(DType dtype, byte[] b, int at, long bits) {
    switch (dtype.bits()) {
      case 8 -> b[at] = (byte) bits;
      case 16 -> putShort(b, at, (short) bits);
      case 32 -> putInt(b, at, (int) bits);
      default -> putLong(b, at, bits);
    }
  }

  /** Bits of a float value rounded to a float type. */
  public static long realToBits(DType dtype, double value) {
    byte[] b = new byte[8];
    putReal(dtype, b, 0, value);
    return bits(dtype, b, 0);
  }

  /** The float value with these bits. */
  public static double bitsToReal(DType dtype, long bits) {
    return switch (dtype) {
      case F32 -> Float.intBitsToFloat((int) bits);
      case F64 -> Double.longBitsToDouble(bits);
      default -> {
        byte[] b = new byte[8];
        putBits(dtype, b, 0, bits);
        yield real(dtype, b, 0);
      }
    };
  }

  /** Bits of an element that nobody wrote: NaN, or 0xCD in every byte. */
  static long poisonBits(DType dtype) {
    return dtype.isFloat() ? realToBits(dtype, Double.NaN) : 0xCDCD_CDCD_CDCD_CDCDL;
  }

  public static void poison(DType dtype, byte[] b) {
    if (b.length == 0) {
      return;
    }
    putBits(dtype, b, 0, poisonBits(dtype));
    for (int done = dtype.bytes(); done < b.length; done *= 2) {
      System.arraycopy(b, 0, b, done, Math.min(done, b.length - done));
    }
  }
}
