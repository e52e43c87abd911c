package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.StorageSize;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * A mutable array: an element type, a shape, and the elements' bytes (little-endian) in the order
 * of a {@link Buffer}'s storage, that is at the offset that the layout gives, row-major without
 * one. Coordinates and flat positions are logical: position 0, 1, … counts row-major whatever the
 * layout is. At most 2 GiB.
 */
public final class NdArray {
  private final DType dtype;
  private final long[] shape;
  private final @Nullable Layout layout;
  private final byte[] bytes;

  private NdArray(DType dtype, long[] shape, @Nullable Layout layout, byte[] bytes) {
    this.dtype = dtype;
    this.shape = shape;
    this.layout = layout;
    this.bytes = bytes;
  }

  private static NdArray allocate(DType dtype, long[] shape, @Nullable Layout layout) {
    long size = Math.multiplyExact(StorageSize.elements(shape, layout), dtype.bytes());
    if (size > StorageSize.MOST_BYTES) {
      throw new IllegalArgumentException(
          "array "
              + dtype
              + Arrays.toString(shape)
              + " has "
              + size
              + " bytes, the limit is 2 GiB");
    }
    return new NdArray(dtype, shape.clone(), layout, new byte[(int) size]);
  }

  /** Row-major, all zero. */
  public static NdArray zeros(DType dtype, long... shape) {
    return allocate(dtype, shape, null);
  }

  /** For a buffer of constant shape, all zero. */
  public static NdArray of(Buffer buffer) {
    long[] shape = new long[buffer.rank()];
    Arrays.setAll(shape, buffer::extent);
    return of(buffer, shape);
  }

  /** For a buffer whose symbolic extents have the values in {@code shape}, all zero. */
  public static NdArray of(Buffer buffer, long... shape) {
    return allocate(buffer.dtype(), shape, buffer.layout());
  }

  /** An f32 array of these elements, row-major. */
  public static NdArray ofFloats(float[] values, long... shape) {
    NdArray array = zeros(DType.F32, shape);
    array.checkCount(values.length);
    for (int i = 0; i < values.length; i++) {
      Bytes.putFloat(array.bytes, i * 4, values[i]);
    }
    return array;
  }

  /** An array of these elements, rounded or wrapped to the type, row-major. */
  public static NdArray ofDoubles(DType dtype, double[] values, long... shape) {
    NdArray array = zeros(dtype, shape);
    array.checkCount(values.length);
    for (int i = 0; i < values.length; i++) {
      array.setElement(i, values[i]);
    }
    return array;
  }

  /** Row-major and random, see {@link #fillRandom}. */
  public static NdArray random(DType dtype, long seed, long... shape) {
    return zeros(dtype, shape).fillRandom(seed);
  }

  private void checkCount(long values) {
    if (values != size()) {
      throw new IllegalArgumentException(
          values + " values for an array of shape " + Arrays.toString(shape));
    }
  }

  public DType dtype() {
    return dtype;
  }

  public long[] shape() {
    return shape.clone();
  }

  public int rank() {
    return shape.length;
  }

  public @Nullable Layout layout() {
    return layout;
  }

  /** Number of elements. */
  public int size() {
    long count = 1;
    for (long extent : shape) {
      count *= extent;
    }
    return (int) count;
  }

  /** The storage, not a copy. */
  public byte[] bytes() {
    return bytes;
  }

  /** A view of the storage, for copies to and from native memory. */
  public MemorySegment segment() {
    return MemorySegment.ofArray(bytes);
  }

  /** Offset in the storage, in elements, of a coordinate. */
  public int offset(long... coordinates) {
    if (coordinates.length != shape.length) {
      throw new IndexOutOfBoundsException(
          coordinates.length + " coordinates for shape " + Arrays.toString(shape));
    }
    long offset = 0;
    for (int d = 0; d < shape.length; d++) {
      if (coordinates[d] < 0 || coordinates[d] >= shape[d]) {
        throw new IndexOutOfBoundsException(
            Arrays.toString(coordinates) + " outside shape " + Arrays.toString(shape));
      }
      offset = offset * shape[d] + coordinates[d];
    }
    return (int) (layout == null ? offset : layout.offset(coordinates));
  }

  /** Coordinates of the position-th element, row-major. */
  public long[] coordinates(long position) {
    long[] at = new long[shape.length];
    for (int d = shape.length - 1; d >= 0; d--) {
      at[d] = position % shape[d];
      position /= shape[d];
    }
    return at;
  }

  private int byteOffset(long position) {
    if (layout == null) {
      return Math.toIntExact(position * dtype.bytes());
    }
    return offset(coordinates(position)) * dtype.bytes();
  }

  /** The element at a coordinate; integers as the nearest double. */
  public double get(long... coordinates) {
    return value(offset(coordinates) * dtype.bytes());
  }

  /** Sets the element at a coordinate; see {@link #setElement}. */
  public void set(double value, long... coordinates) {
    put(offset(coordinates) * dtype.bytes(), value);
  }

  /** The element at a row-major position; integers as the nearest double. */
  public double element(long position) {
    return value(byteOffset(position));
  }

  /** Sets an element, rounded to a float type, truncated and wrapped to an integer type. */
  public void setElement(long position, double value) {
    put(byteOffset(position), value);
  }

  /** The element of an integer type at a row-major position. */
  public long integerElement(long position) {
    return Bytes.integer(dtype, bytes, byteOffset(position));
  }

  /** Sets an element of an integer type, wrapped to it. */
  public void setIntegerElement(long position, long value) {
    Bytes.putInteger(dtype, bytes, byteOffset(position), value);
  }

  private double value(int at) {
    return dtype.isFloat() ? Bytes.real(dtype, bytes, at) : Bytes.integer(dtype, bytes, at);
  }

  private void put(int at, double value) {
    if (dtype.isFloat()) {
      Bytes.putReal(dtype, bytes, at, value);
    } else {
      Bytes.putInteger(dtype, bytes, at, (long) value);
    }
  }

  /** Every element becomes the value. Returns this. */
  public NdArray fill(double value) {
    return fillWith(coordinates -> value);
  }

  /** Every element becomes a function of its coordinates. Returns this. */
  public NdArray fillWith(ToDoubleFunction<long[]> value) {
    int count = size();
    for (int i = 0; i < count; i++) {
      setElement(i, value.applyAsDouble(coordinates(i)));
    }
    return this;
  }

  /**
   * Uniform in [-1, 1) for floats, in [-8, 8) for signed and [0, 16) for unsigned integers, the
   * same values for a seed in every layout. Returns this.
   */
  public NdArray fillRandom(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int count = size();
    for (int i = 0; i < count; i++) {
      setElement(
          i,
          switch (dtype) {
            case BOOL -> random.nextInt(2);
            case U8, U32, U64, MBARRIER, HANDLE -> random.nextInt(16);
            case I8, I32, I64 -> random.nextInt(16) - 8;
            case F8E4M3, F8E5M2, F16, BF16, F32, F64 -> random.nextDouble() * 2 - 1;
          });
    }
    return this;
  }

  /** Every byte of the storage becomes NaN (floats) or 0xCD (others). Returns this. */
  public NdArray poison() {
    Bytes.poison(dtype, bytes);
    return this;
  }

  /**
   * The same elements, not a copy of them, in another shape; row-major both.
   *
   * @throws IllegalArgumentException if the shape has another number of elements, or there is a
   *     layout
   */
  public NdArray reshaped(long... newShape) {
    if (Arrays.equals(newShape, shape)) {
      return this;
    }
    if (layout != null || StorageSize.elements(newShape, null) != size()) {
      throw new IllegalArgumentException(
          this + " does not have the shape " + Arrays.toString(newShape));
    }
    return new NdArray(dtype, newShape.clone(), null, bytes);
  }

  public NdArray copy() {
    return new NdArray(dtype, shape, layout, bytes.clone());
  }

  /** A row-major array of the same values converted to another type. */
  public NdArray to(DType newDType) {
    NdArray result = zeros(newDType, shape);
    int count = size();
    for (int i = 0; i < count; i++) {
      if (!dtype.isFloat() && !newDType.isFloat()) {
        result.setIntegerElement(i, integerElement(i));
      } else {
        result.setElement(i, element(i));
      }
    }
    return result;
  }

  /** The same layout and values with every float type replaced by f64; this if nothing changes. */
  NdArray widened() {
    if (!dtype.isFloat() || dtype == DType.F64) {
      return this;
    }
    NdArray result = allocate(DType.F64, shape, layout);
    int elements = bytes.length / dtype.bytes();
    for (int i = 0; i < elements; i++) {
      Bytes.putDouble(result.bytes, i * 8, Bytes.real(dtype, bytes, i * dtype.bytes()));
    }
    return result;
  }

  /** Rounds the storage of a widened array back into this one. */
  void narrowFrom(NdArray wide) {
    int elements = bytes.length / dtype.bytes();
    for (int i = 0; i < elements; i++) {
      Bytes.putReal(dtype, bytes, i * dtype.bytes(), Bytes.getDouble(wide.bytes, i * 8));
    }
  }

  /** All elements, row-major. */
  public float[] toFloats() {
    float[] values = new float[size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) element(i);
    }
    return values;
  }

  /** All elements, row-major. */
  public double[] toDoubles() {
    double[] values = new double[size()];
    Arrays.setAll(values, this::element);
    return values;
  }

  /** Whether type, shape and every element's bits are equal; the layouts may differ. */
  public boolean sameBits(NdArray other) {
    return dtype == other.dtype && Arrays.equals(shape, other.shape) && difference(other) < 0;
  }

  /** Row-major position of the first element whose bits differ, or -1. */
  public long difference(NdArray other) {
    int count = size();
    for (int i = 0; i < count; i++) {
      if (Bytes.bits(dtype, bytes, byteOffset(i))
          != Bytes.bits(other.dtype, other.bytes, other.byteOffset(i))) {
        return i;
      }
    }
    return -1;
  }

  /** Type, shape and the first elements. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(dtype + Arrays.toString(shape) + " {");
    for (int i = 0; i < Math.min(8, size()); i++) {
      text.append(i == 0 ? "" : ", ").append(element(i));
    }
    return text.append(size() > 8 ? ", …}" : "}").toString();
  }
}
