package dev.warpwright.measure.reference;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * A row-major matrix in host memory.
 *
 * @param dtype f16, bf16, f32, f64, an 8-bit float, i8, u8 or i32
 * @param elements a {@code short[]} with the bits of f16 or bf16, a {@code byte[]} with those of
 *     8-bit floats, or an array of the type
 */
public record HostMatrix(DType dtype, long rows, long columns, Object elements) {
  private static final int CHUNK = 1 << 16;

  /** All zero. */
  public static HostMatrix zeros(DType dtype, long rows, long columns) {
    int count = Math.toIntExact(Math.multiplyExact(rows, columns));
    Object elements =
        switch (dtype) {
          case F16, BF16 -> new short[count];
          case F32 -> new float[count];
          case F64 -> new double[count];
          case I8, U8, F8E4M3, F8E5M2 -> new byte[count];
          case I32 -> new int[count];
          case BOOL, U32, I64, U64, MBARRIER, HANDLE ->
              throw new IllegalArgumentException("no matrix of " + dtype);
        };
    return new HostMatrix(dtype, rows, columns, elements);
  }

  /**
   * For a buffer of rank 2, the rows of all matrices of a buffer of rank 3, or one row for a buffer
   * of rank 1 and for matrices that do not follow each other, with what lies between rows, filled
   * with normally distributed numbers around 0, rounded and clamped for bytes; the same for a seed
   * on every machine.
   */
  public static HostMatrix random(Buffer buffer, double deviation, long seed) {
    boolean apart =
        buffer.rank() == 3
            && MatrixRows.are(buffer)
            && MatrixRows.distance(buffer)
                != buffer.extent(1) * MatrixRows.leadingDimension(buffer);
    long columns =
        MatrixRows.are(buffer)
            ? MatrixRows.leadingDimension(buffer)
            : buffer.extent(buffer.rank() - 1);
    HostMatrix matrix =
        apart
            ? zeros(buffer.dtype(), 1, BoundWorkload.elements(buffer))
            : zeros(buffer.dtype(), BoundWorkload.rows(buffer), columns);
    int count = matrix.count();
    IntStream.range(0, Math.ceilDiv(count, CHUNK))
        .parallel()
        .forEach(
            chunk -> {
              RandomGenerator random = new SplittableRandom(mixed(mixed(seed) + chunk));
              int end = (int) Math.min(count, (chunk + 1L) * CHUNK);
              for (int i = chunk * CHUNK; i < end; i++) {
                matrix.set(i, random.nextGaussian() * deviation);
              }
            });
    return matrix;
  }

  /** Seeds that are close to each other, or whose difference is simple, become unrelated. */
  private static long mixed(long seed) {
    long z = (seed ^ seed >>> 31) * 0xD6E8_FEB8_6659_FD93L;
    z = (z ^ z >>> 32) * 0xD6E8_FEB8_6659_FD93L;
    return z ^ z >>> 32;
  }

  /** The first so many columns; a copy unless there are no others. */
  HostMatrix columns(long count) {
    if (count == columns) {
      return this;
    }
    HostMatrix part = zeros(dtype, rows, count);
    for (long row = 0; row < rows; row++) {
      System.arraycopy(
          elements,
          Math.toIntExact(row * columns),
          part.elements,
          Math.toIntExact(row * count),
          Math.toIntExact(count));
    }
    return part;
  }

  /** The matrix of so many rows and columns that begins at an element; a copy. */
  public HostMatrix at(long first, long rows, long columns) {
    HostMatrix part = zeros(dtype, rows, columns);
    System.arraycopy(elements, Math.toIntExact(first), part.elements, 0, part.count());
    return part;
  }

  public int count() {
    return Math.toIntExact(rows * columns);
  }

  public double get(long row, long column) {
    return get(Math.toIntExact(row * columns + column));
  }

  /** The element at a row-major position. */
  public double get(int position) {
    return switch (elements) {
      case short[] bits ->
          dtype == DType.F16
              ? Numerics.f16ToFloat(bits[position])
              : Numerics.bf16ToFloat(bits[position]);
      case float[] values -> values[position];
      case double[] values -> values[position];
      case byte[] values -> ofByte(values[position]);
      case int[] values -> values[position];
      default -> throw new IllegalStateException("elements are a " + elements.getClass());
    };
  }

  private void set(int position, double value) {
    switch (elements) {
      case short[] bits ->
          bits[position] = dtype == DType.F16 ? Numerics.f16Bits(value) : Numerics.bf16Bits(value);
      case float[] values -> values[position] = (float) value;
      case double[] values -> values[position] = value;
      case byte[] values -> values[position] = toByte(value);
      case int[] values -> values[position] = (int) Math.round(value);
      default -> throw new IllegalStateException("elements are a " + elements.getClass());
    }
  }

  private double ofByte(byte bits) {
    return switch (dtype) {
      case F8E4M3 -> Numerics.e4m3ToFloat(bits);
      case F8E5M2 -> Numerics.e5m2ToFloat(bits);
      case U8 -> bits & 0xFF;
      default -> bits;
    };
  }

  private byte toByte(double value) {
    return switch (dtype) {
      case F8E4M3 -> Numerics.e4m3Bits(value);
      case F8E5M2 -> Numerics.e5m2Bits(value);
      case U8 -> (byte) Math.clamp(Math.round(Math.abs(value)), 0, 255);
      default -> (byte) Math.clamp(Math.round(value), -128, 127);
    };
  }

  /** The elements' memory, for copies. */
  public MemorySegment segment() {
    return switch (elements) {
      case short[] bits -> MemorySegment.ofArray(bits);
      case float[] values -> MemorySegment.ofArray(values);
      case double[] values -> MemorySegment.ofArray(values);
      case byte[] values -> MemorySegment.ofArray(values);
      case int[] values -> MemorySegment.ofArray(values);
      default -> throw new IllegalStateException("elements are a " + elements.getClass());
    };
  }
}
