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

  /**
   * {@return a row-major array, all zero}
   *
   * @param dtype of each element
   * @param shape extents, outermost first
   */
  public static NdArray zeros(DType dtype, long... shape) {
    return allocate(dtype, shape, null);
  }

  /**
   * {@return an array for a buffer of constant shape, all zero}
   *
   * @param buffer whose type, shape and layout it has
   */
  public static NdArray of(Buffer buffer) {
    long[] shape = new long[buffer.rank()];
    Arrays.setAll(shape, buffer::extent);
    return of(buffer, shape);
  }

  /**
   * {@return an array for a buffer whose symbolic extents have the values in {@code shape}, all
   * zero}
   *
   * @param buffer whose type and layout it has
   * @param shape extents, outermost first
   */
  public static NdArray of(Buffer buffer, long... shape) {
    return allocate(buffer.dtype(), shape, buffer.layout());
  }

  /**
   * {@return an f32 array of these elements}
   *
   * @param values row-major, as many as the shape has elements
   * @param shape extents, outermost first
   */
  public static NdArray ofFloats(float[] values, long... shape) {
    NdArray array = zeros(DType.F32, shape);
    array.checkCount(values.length);
    for (int i = 0; i < values.length; i++) {
      Bytes.putFloat(array.bytes, i * 4, values[i]);
    }
    return array;
  }

  /**
   * {@return an array of these elements, rounded or wrapped to the type}
   *
   * @param dtype of each element
   * @param values row-major, as many as the shape has elements
   * @param shape extents, outermost first
   */
  public static NdArray ofDoubles(DType dtype, double[] values, long... shape) {
    NdArray array = zeros(dtype, shape);
    array.checkCount(values.length);
    for (int i = 0; i < values.length; i++) {
      array.setElement(i, values[i]);
    }
    return array;
  }

  /**
   * {@return a row-major array of random elements, see {@link #fillRandom}}
   *
   * @param dtype of each element
   * @param seed equal seeds give equal values
   * @param shape extents, outermost first
   */
  public static NdArray random(DType dtype, long seed, long... shape) {
    return zeros(dtype, shape).fillRandom(seed);
  }

  private void checkCount(long values) {
    if (values != size()) {
      throw new IllegalArgumentException(
          values + " values for an array of shape " + Arrays.toString(shape));
    }
  }

  /** {@return the type of each element} */
  public DType dtype() {
    return dtype;
  }

  /** {@return the extents, outermost first; a copy} */
  public long[] shape() {
    return shape.clone();
  }

  /** {@return the number of dimensions} */
  public int rank() {
    return shape.length;
  }

  /** {@return what makes offsets of coordinates; null for row-major without gaps} */
  public @Nullable Layout layout() {
    return layout;
  }

  /** {@return number of elements} */
  public int size() {
    long count = 1;
    for (long extent : shape) {
      count *= extent;
    }
    return (int) count;
  }

  /**
   * {@return the storage itself, little-endian; what is written to it is an element's new value}
   */
  public byte[] bytes() {
    return bytes;
  }

  /** {@return a view of the storage, for copies to and from native memory} */
  public MemorySegment segment() {
    return MemorySegment.ofArray(bytes);
  }

  /**
   * {@return offset in the storage, in elements, of a coordinate}
   *
   * @param coordinates one for each dimension
   */
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

  /**
   * {@return coordinates of the position-th element, row-major}
   *
   * @param position from 0
   */
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

  /**
   * {@return the element at a coordinate; integers as the nearest double}
   *
   * @param coordinates one for each dimension
   */
  public double get(long... coordinates) {
    return value(offset(coordinates) * dtype.bytes());
  }

  /**
   * Sets the element at a coordinate; see {@link #setElement}.
   *
   * @param value of the element
   * @param coordinates one for each dimension
   */
  public void set(double value, long... coordinates) {
    put(offset(coordinates) * dtype.bytes(), value);
  }

  /**
   * {@return the element at a row-major position; integers as the nearest double}
   *
   * @param position from 0
   */
  public double element(long position) {
    return value(byteOffset(position));
  }

  /**
   * Sets an element, rounded to a float type, truncated and wrapped to an integer type.
   *
   * @param position row-major, from 0
   * @param value of the element
   */
  public void setElement(long position, double value) {
    put(byteOffset(position), value);
  }

  /**
   * {@return the element of an integer type at a row-major position}
   *
   * @param position from 0
   */
  public long integerElement(long position) {
    return Bytes.integer(dtype, bytes, byteOffset(position));
  }

  /**
   * Sets an element of an integer type, wrapped to it.
   *
   * @param position row-major, from 0
   * @param value of the element
   */
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

  /**
   * Gives every element this value.
   *
   * @param value rounded or wrapped to the type
   * @return this
   */
  public NdArray fill(double value) {
    return fillWith(coordinates -> value);
  }

  /**
   * Gives every element a value by its coordinates.
   *
   * @param value of the element at these coordinates
   * @return this
   */
  public NdArray fillWith(ToDoubleFunction<long[]> value) {
    int count = size();
    for (int i = 0; i < count; i++) {
      setElement(i, value.applyAsDouble(coordinates(i)));
    }
    return this;
  }

  /**
   * Gives every element a random value: uniform in [-1, 1) for floats, in [-8, 8) for signed and
   * [0, 16) for unsigned integers, the same values for a seed in every layout.
   *
   * @param seed equal seeds give equal values
   * @return this
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

  /**
   * Makes every byte of the storage one of a NaN (floats) or 0xCD (others), so that what nobody
   * writes is seen.
   *
   * @return this
   */
  public NdArray poison() {
    Bytes.poison(dtype, bytes);
    return this;
  }

  /**
   * {@return the same elements, not a copy of them, in another shape; row-major both}
   *
   * @param newShape extents, outermost first
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

  /** {@return an array of the same elements in a storage of its own} */
  public NdArray copy() {
    return new NdArray(dtype, shape, layout, bytes.clone());
  }

  /**
   * {@return a row-major array of the same values converted to another type}
   *
   * @param newDType to which values are rounded or wrapped
   */
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

  /** {@return all elements, row-major, as the nearest floats} */
  public float[] toFloats() {
    float[] values = new float[size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) element(i);
    }
    return values;
  }

  /** {@return all elements, row-major, as the nearest doubles} */
  public double[] toDoubles() {
    double[] values = new double[size()];
    Arrays.setAll(values, this::element);
    return values;
  }

  /**
   * {@return whether type, shape and every element's bits are equal; the layouts may differ}
   *
   * @param other of any type and shape
   */
  public boolean sameBits(NdArray other) {
    return dtype == other.dtype && Arrays.equals(shape, other.shape) && difference(other) < 0;
  }

  /**
   * {@return row-major position of the first element whose bits differ, or -1}
   *
   * @param other of the same type and shape
   */
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
