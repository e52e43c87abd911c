package dev.warpwright.compiler.buffer;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * Memory of an input or output of a model: [rows, features] row-major, without gaps, in an element
 * type of {@code f32}, {@code f16} or {@code bf16}. It is a view: nothing is copied when one is
 * made, and a model that runs reads and writes the memory itself.
 *
 * <pre>{@code
 * MemorySegment rows = arena.allocate(JAVA_FLOAT, 16 * 64);
 * model.run(
 *     Map.of("x", TensorBuffer.of(rows, DType.F32)), Map.of("y", TensorBuffer.of(new float[16 * 10])));
 * }</pre>
 *
 * <p>Where the element type is the one that the kernels have, elements are taken as they are;
 * otherwise they are rounded to nearest even, or widened, on the way.
 */
public sealed interface TensorBuffer permits ArrayTensor, SegmentTensor, DeviceBuffer {
  /** {@return the type of each element} */
  DType type();

  /** {@return how many elements there are: rows times features} */
  long elements();

  /** {@return whether it cannot be written} */
  default boolean isReadOnly() {
    return false;
  }

  /**
   * {@return whether both have memory in common, as far as can be seen}
   *
   * @param other memory of any kind
   */
  boolean overlaps(TensorBuffer other);

  /**
   * {@return all of an array, as f32}
   *
   * @param array [rows, features] row-major
   */
  static TensorBuffer of(float[] array) {
    return ArrayTensor.of(array);
  }

  /**
   * {@return all of an array that holds the bits of f16 or bf16 numbers}
   *
   * @param type {@link DType#F16} or {@link DType#BF16}
   * @param bits numbers of 16 bits
   * @throws UserError if it is another type
   */
  static TensorBuffer of(short[] bits, DType type) {
    if (bits == null) {
      throw new UserError("the array is null; it holds the bits of f16 or bf16 numbers");
    }
    if (type != DType.F16 && type != DType.BF16) {
      throw new UserError("a short[] holds the bits of f16 or bf16 numbers, not of " + type);
    }
    return new ArrayTensor(bits, type, bits.length);
  }

  /**
   * {@return what remains of a buffer, as f32: from its position to its limit, neither of which
   * changes}
   *
   * @param buffer what remains of it
   * @throws UserError if the buffer's byte order is not this machine's
   */
  static TensorBuffer of(FloatBuffer buffer) {
    if (buffer == null) {
      throw new UserError("the FloatBuffer is null; it holds rows of f32 numbers");
    }
    if (buffer.order() != ByteOrder.nativeOrder()) {
      throw new UserError(
          "the FloatBuffer's byte order is "
              + buffer.order()
              + ", this machine's is "
              + ByteOrder.nativeOrder()
              + "; give the ByteBuffer order(ByteOrder.nativeOrder()) before asFloatBuffer()");
    }
    return of(MemorySegment.ofBuffer(buffer), DType.F32);
  }

  /**
   * {@return all of a memory segment, on or off the Java heap}
   *
   * @param type {@link DType#F32}, {@link DType#F16} or {@link DType#BF16}, little-endian as this
   *     machine has it
   * @param segment the memory
   * @throws UserError if it is another type, or the segment ends within an element
   */
  static TensorBuffer of(MemorySegment segment, DType type) {
    if (segment == null) {
      throw new UserError("the memory segment is null; it holds rows of " + type + " numbers");
    }
    if (type != DType.F32 && type != DType.F16 && type != DType.BF16) {
      throw new UserError("models take and give f32, f16 and bf16, not " + type);
    }
    if (segment.byteSize() % type.bytes() != 0) {
      throw new UserError(
          "the memory segment has "
              + segment.byteSize()
              + " bytes, which are no whole elements of "
              + type.bytes()
              + " bytes ("
              + type
              + ")");
    }
    return ArrayTensor.whole(segment, type).orElseGet(() -> new SegmentTensor(segment, type));
  }
}
