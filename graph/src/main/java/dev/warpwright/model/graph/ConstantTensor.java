package dev.warpwright.model.graph;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * A constant: dense, row-major, little-endian, read-only. The bytes may lie in a mapped file and
 * may be aligned to nothing. Two tensors are the same only if they are the same object.
 */
public final class ConstantTensor {
  private static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;
  private static final ValueLayout.OfShort SHORT = JAVA_SHORT_UNALIGNED.withOrder(LE);
  private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(LE);
  private static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED.withOrder(LE);
  private static final ValueLayout.OfFloat FLOAT = JAVA_FLOAT_UNALIGNED.withOrder(LE);
  private static final ValueLayout.OfDouble DOUBLE = JAVA_DOUBLE_UNALIGNED.withOrder(LE);

  private final String name;
  private final DType dtype;
  private final List<Long> shape;
  private final long count;
  private final MemorySegment data;
  private final @Nullable Origin origin;

  /** What was made of it, by how it came about. */
  private final Map<Origin, ConstantTensor> derived = new HashMap<>();

  /**
   * A tensor over existing bytes, which are not copied.
   *
   * @param name as in the original file, for messages
   * @param dtype of each element
   * @param shape empty for a scalar; no dimension may be negative
   * @param data exactly as many bytes as shape and type need
   * @throws IllegalArgumentException if the size does not fit, overflows, or the type is opaque
   */
  public ConstantTensor(String name, DType dtype, List<Long> shape, MemorySegment data) {
    this(name, dtype, shape, data, null);
  }

  /**
   * A tensor over existing bytes, and how it came about.
   *
   * @param name as in the original file, for messages
   * @param dtype of each element
   * @param shape empty for a scalar; no dimension may be negative
   * @param data exactly as many bytes as shape and type need
   * @param origin null for one that was computed
   */
  public ConstantTensor(
      String name, DType dtype, List<Long> shape, MemorySegment data, @Nullable Origin origin) {
    if (!dtype.isFloat() && !dtype.isInt() && dtype != DType.BOOL) {
      throw new IllegalArgumentException("no tensor can hold " + dtype);
    }
    long elements = elementCount(shape);
    if (elements < 0 || elements > Long.MAX_VALUE / dtype.bytes()) {
      throw new IllegalArgumentException("shape " + shape + " is too large or negative");
    }
    if (data.byteSize() != elements * dtype.bytes()) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%s%s needs %d bytes, not %d",
              dtype,
              shape,
              elements * dtype.bytes(),
              data.byteSize()));
    }
    this.name = name;
    this.dtype = dtype;
    this.shape = List.copyOf(shape);
    this.count = elements;
    this.data = data.asReadOnly();
    this.origin = origin;
  }

  /**
   * {@return a tensor with these elements, each rounded to the type, to nearest even}
   *
   * @param name as in the original file, for messages
   * @param dtype of each element
   * @param shape empty for a scalar
   * @param values row-major, as many as the shape has elements
   */
  public static ConstantTensor ofDoubles(
      String name, DType dtype, List<Long> shape, double... values) {
    return made(name, dtype, shape, values.length, i -> values[(int) i]);
  }

  /**
   * {@return a tensor of random numbers, each rounded to the type, to nearest even} It may have
   * more elements than an array.
   *
   * @param name as in the original file, for messages
   * @param dtype of each element
   * @param shape empty for a scalar
   * @param deviation of their normal distribution
   * @param random gives as many numbers as the shape has elements
   */
  public static ConstantTensor random(
      String name, DType dtype, List<Long> shape, double deviation, SplittableRandom random) {
    return made(name, dtype, shape, elementCount(shape), i -> deviation * random.nextGaussian());
  }

  private static ConstantTensor made(
      String name, DType dtype, List<Long> shape, long count, LongToDoubleFunction values) {
    MemorySegment data = Arena.ofAuto().allocate(count * dtype.bytes(), 64);
    for (long i = 0; i < count; i++) {
      double v = values.applyAsDouble(i);
      switch (dtype) {
        case F64 -> data.set(DOUBLE, i * 8L, v);
        case F32 -> data.set(FLOAT, i * 4L, (float) v);
        case F16 -> data.set(SHORT, i * 2L, Float.floatToFloat16((float) v));
        case BF16 -> data.set(SHORT, i * 2L, Numerics.bf16Bits((float) v));
        case BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
            throw new IllegalArgumentException("cannot round to " + dtype);
      }
    }
    return new ConstantTensor(name, dtype, shape, data);
  }

  /**
   * {@return a tensor of 64-bit integers}
   *
   * @param name as in the original file, for messages
   * @param shape empty for a scalar
   * @param values row-major, as many as the shape has elements
   */
  public static ConstantTensor ofLongs(String name, List<Long> shape, long... values) {
    MemorySegment data = Arena.ofAuto().allocate(values.length * 8L, 64);
    for (int i = 0; i < values.length; i++) {
      data.set(LONG, i * 8L, values[i]);
    }
    return new ConstantTensor(name, DType.I64, shape, data);
  }

  /**
   * {@return the number of elements of a shape, or -1 if a dimension is negative or the product
   * overflows}
   *
   * @param shape empty for a scalar, which has one element
   */
  public static long elementCount(List<Long> shape) {
    long product = 1;
    boolean empty = false;
    for (long dim : shape) {
      if (dim < 0) {
        return -1;
      }
      if (dim == 0) {
        empty = true;
      } else if (product > Long.MAX_VALUE / dim) {
        return -1;
      } else {
        product *= dim;
      }
    }
    return empty ? 0 : product;
  }

  /** {@return the name in the original file} */
  public String name() {
    return name;
  }

  /** {@return the type of each element} */
  public DType dtype() {
    return dtype;
  }

  /** {@return the extents, outermost first; empty for a scalar} */
  public List<Long> shape() {
    return shape;
  }

  /** {@return the number of dimensions, 0 for a scalar} */
  public int rank() {
    return shape.size();
  }

  /** {@return how it came about; null if it was computed} */
  public @Nullable Origin origin() {
    return origin;
  }

  /** {@return the same elements as a weight of the model's file, which exports may load anew} */
  public ConstantTensor stored() {
    return new ConstantTensor(name, dtype, shape, data, new Origin.Stored(name));
  }

  /** {@return the number of elements} */
  public long count() {
    return count;
  }

  /** {@return the bytes: read-only, row-major, little-endian, of any alignment} */
  public MemorySegment data() {
    return data;
  }

  /**
   * {@return the element at a row-major index, widened (or, for f64 and integers, rounded) to
   * float}
   *
   * @param index 0 to {@link #count()} − 1
   */
  public float floatAt(long index) {
    return switch (dtype) {
      case F32 -> data.get(FLOAT, index * 4);
      case F16 -> Float.float16ToFloat(data.get(SHORT, index * 2));
      case BF16 -> Float.intBitsToFloat(data.get(SHORT, index * 2) << 16);
      case F64 -> (float) data.get(DOUBLE, index * 8);
      case BOOL, I8, U8, I32, U32, I64, U64 -> longAt(index);
      case F8E4M3, F8E5M2, MBARRIER, HANDLE -> throw notReadable();
    };
  }

  /**
   * {@return the element at a row-major index; exact for every type except 64-bit integers}
   *
   * @param index 0 to {@link #count()} − 1
   */
  public double doubleAt(long index) {
    return switch (dtype) {
      case F64 -> data.get(DOUBLE, index * 8);
      case F32, F16, BF16 -> floatAt(index);
      case BOOL, I8, U8, I32, U32, I64, U64 -> longAt(index);
      case F8E4M3, F8E5M2, MBARRIER, HANDLE -> throw notReadable();
    };
  }

  /**
   * {@return the element of an integer or boolean tensor at a row-major index; u64 as its 64 bits}
   *
   * @param index 0 to {@link #count()} − 1
   * @throws IllegalStateException if the tensor is floating point
   */
  public long longAt(long index) {
    return switch (dtype) {
      case BOOL -> data.get(JAVA_BYTE, index) != 0 ? 1 : 0;
      case I8 -> data.get(JAVA_BYTE, index);
      case U8 -> Byte.toUnsignedLong(data.get(JAVA_BYTE, index));
      case I32 -> data.get(INT, index * 4);
      case U32 -> Integer.toUnsignedLong(data.get(INT, index * 4));
      case I64, U64 -> data.get(LONG, index * 8);
      case F8E4M3, F8E5M2, F16, BF16, F32, F64, MBARRIER, HANDLE -> throw notReadable();
    };
  }

  /**
   * {@return the rows of this tensor and of another one in turns, so many of each; made once, so
   * that all programs that want it share it}
   *
   * @param other of the same shape and type; null for one of zeros
   * @param rows of both each, at least as many as there are: those that are added are zero
   * @param group rows that follow each other, a divisor of {@code rows}
   */
  public synchronized ConstantTensor interleaved(
      @Nullable ConstantTensor other, long rows, int group) {
    if (other != null && (!other.shape.equals(shape) || other.dtype != dtype)) {
      throw new IllegalArgumentException(typeText() + " beside " + other.typeText());
    }
    if (shape.isEmpty() || rows < shape.getFirst() || rows % group != 0) {
      throw new IllegalArgumentException(
          String.format(Locale.ROOT, "%d rows of %s in groups of %d", rows, typeText(), group));
    }
    return derived.computeIfAbsent(
        new Origin.Interleaved(this, other, rows, group),
        key -> interleave(other, rows, group, key));
  }

  /**
   * {@return the rows of this matrix and of others below it; made once, so that all programs that
   * want it share it}
   *
   * @param others of as many columns and the same type
   */
  public synchronized ConstantTensor stacked(List<ConstantTensor> others) {
    for (ConstantTensor other : others) {
      if (other.rank() != 2
          || other.dtype != dtype
          || !other.shape.get(1).equals(shape.getLast())) {
        throw new IllegalArgumentException(typeText() + " above " + other.typeText());
      }
    }
    List<ConstantTensor> all = new ArrayList<>(List.of(this));
    all.addAll(others);
    return derived.computeIfAbsent(new Origin.Stacked(all), key -> stack(all, key));
  }

  private ConstantTensor stack(List<ConstantTensor> all, Origin key) {
    long rows = all.stream().mapToLong(part -> part.shape.getFirst()).sum();
    MemorySegment segment =
        Arena.ofAuto().allocate(all.stream().mapToLong(part -> part.data.byteSize()).sum(), 64);
    long at = 0;
    for (ConstantTensor part : all) {
      MemorySegment.copy(part.data, 0, segment, at, part.data.byteSize());
      at += part.data.byteSize();
    }
    return new ConstantTensor(
        String.join(", ", all.stream().map(ConstantTensor::name).toList()),
        dtype,
        List.of(rows, shape.getLast()),
        segment,
        key);
  }

  /**
   * {@return this matrix with each column multiplied by a number, rounded to its type; made once}
   *
   * @param factors one for each column
   */
  public synchronized ConstantTensor scaled(ConstantTensor factors) {
    if (rank() != 2 || factors.count != shape.getLast()) {
      throw new IllegalArgumentException(typeText() + " times " + factors.typeText());
    }
    return derived.computeIfAbsent(
        new Origin.Scaled(this, factors),
        key -> of(dtype, key, i -> doubleAt(i) * factors.doubleAt(i % factors.count)));
  }

  /** {@return a tensor of zeros of the same shape and type, always the same one} */
  public synchronized ConstantTensor zeros() {
    return derived.computeIfAbsent(
        new Origin.Zeros(this),
        key ->
            new ConstantTensor(
                "zeros", dtype, shape, Arena.ofAuto().allocate(data.byteSize(), 64), key));
  }

  /** {@return the tensor rounded as matrix instructions in tf32 want their operands; made once} */
  public synchronized ConstantTensor tf32() {
    return derived.computeIfAbsent(
        new Origin.Rounded(this),
        key -> of(DType.F32, key, i -> Numerics.tf32((float) doubleAt(i))));
  }

  private ConstantTensor of(DType type, Origin key, LongToDoubleFunction values) {
    return new ConstantTensor(name, type, shape, made(name, type, shape, count, values).data, key);
  }

  private ConstantTensor interleave(
      @Nullable ConstantTensor other, long rows, int group, Origin key) {
    long own = shape.getFirst();
    long row = own == 0 ? 0 : data.byteSize() / own;
    MemorySegment all = Arena.ofAuto().allocate(2 * rows * row, 64);
    for (long first = 0; first < own; first += group) {
      long bytes = Math.min(group, own - first) * row;
      MemorySegment.copy(data, first * row, all, 2 * first * row, bytes);
      if (other != null) {
        MemorySegment.copy(other.data, first * row, all, (2 * first + group) * row, bytes);
      }
    }
    List<Long> wide = new ArrayList<>(shape);
    wide.set(0, 2 * rows);
    return new ConstantTensor(
        other == null ? name : name + " and " + other.name, dtype, wide, all, key);
  }

  /** {@return all elements as {@link #floatAt}} */
  public float[] toFloats() {
    float[] out = new float[arrayLength()];
    if (dtype == DType.F32) {
      MemorySegment.copy(data, FLOAT, 0, out, 0, out.length);
    } else {
      for (int i = 0; i < out.length; i++) {
        out[i] = floatAt(i);
      }
    }
    return out;
  }

  /** {@return all elements as {@link #doubleAt}} */
  public double[] toDoubles() {
    double[] out = new double[arrayLength()];
    for (int i = 0; i < out.length; i++) {
      out[i] = doubleAt(i);
    }
    return out;
  }

  /** {@return all elements as {@link #longAt}} */
  public long[] toLongs() {
    long[] out = new long[arrayLength()];
    for (int i = 0; i < out.length; i++) {
      out[i] = longAt(i);
    }
    return out;
  }

  private int arrayLength() {
    if (count > Integer.MAX_VALUE - 8) {
      throw new IllegalStateException(count + " elements do not fit into an array");
    }
    return (int) count;
  }

  private IllegalStateException notReadable() {
    return new IllegalStateException("elements of " + dtype + " cannot be read this way");
  }

  /** {@return type and shape for messages, for example {@code f32[64, 10]}} */
  public String typeText() {
    return dtype.text() + shape;
  }

  @Override
  public String toString() {
    return name + ": " + typeText();
  }
}
