package dev.warpwright.compiler.buffer;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaStream;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory on a device, for inputs and outputs that stay there from one model to the next: on a GPU
 * its memory, on the CPU an array of the element type. A model may use the first rows of one that
 * is longer.
 *
 * <pre>{@code
 * try (DeviceBuffer x = device.allocate(DType.F32, 16 * 64);
 *     DeviceBuffer y = device.allocate(DType.F32, 16 * 10)) {
 *   x.copyFrom(MemorySegment.ofArray(rows));
 *   model.run(16, x, y); // nothing is copied
 *   y.copyTo(MemorySegment.ofArray(scores));
 * }
 * }</pre>
 *
 * <p>Copies wait until they are done. Any thread may call any method, but two that use the same
 * memory at once get what they deserve.
 */
public final class DeviceBuffer implements TensorBuffer, AutoCloseable {
  private final DType type;
  private final long elements;
  private final @Nullable CudaBuffer memory;
  private final @Nullable CudaStream copies;
  private final @Nullable ArrayTensor array;
  private volatile boolean closed;

  private DeviceBuffer(
      DType type,
      long elements,
      @Nullable CudaBuffer memory,
      @Nullable CudaStream copies,
      @Nullable ArrayTensor array) {
    this.type = type;
    this.elements = elements;
    this.memory = memory;
    this.copies = copies;
    this.array = array;
  }

  private static void check(DType type, long elements) {
    if (type != DType.F32 && type != DType.F16 && type != DType.BF16) {
      throw new UserError("models take and give f32, f16 and bf16, not " + type);
    }
    if (elements < 0) {
      throw new UserError("a buffer of " + elements + " elements cannot be allocated");
    }
  }

  /**
   * {@return memory of a GPU; its contents are whatever was there}
   *
   * @param context of the GPU
   * @param type the element type
   * @param elements how many, 0 or more
   */
  public static DeviceBuffer onGpu(CudaContext context, DType type, long elements) {
    check(type, elements);
    CudaBuffer memory = context.allocate(Math.max(16, Math.multiplyExact(elements, type.bytes())));
    return new DeviceBuffer(type, elements, memory, context.newStream(), null);
  }

  /**
   * {@return an array of the JVM, all zeros}
   *
   * @param type the element type
   * @param elements how many, 0 or more
   * @throws UserError if no array is so long
   */
  public static DeviceBuffer onHost(DType type, long elements) {
    check(type, elements);
    if (elements > Integer.MAX_VALUE - 8) {
      throw new UserError(
          "a buffer of " + elements + " elements is too long: an array holds 2^31 - 9");
    }
    Object array = type == DType.F32 ? new float[(int) elements] : new short[(int) elements];
    return new DeviceBuffer(type, elements, null, null, new ArrayTensor(array, type, elements));
  }

  @Override
  public DType type() {
    return type;
  }

  @Override
  public long elements() {
    return elements;
  }

  @Override
  public boolean overlaps(TensorBuffer other) {
    return other instanceof DeviceBuffer device
        ? device == this
        : array != null && array.overlaps(other);
  }

  /**
   * {@return the GPU's memory; null where the device is no GPU}
   *
   * @throws IllegalStateException if this is closed
   */
  public @Nullable CudaBuffer memory() {
    checkOpen();
    return memory;
  }

  /**
   * {@return the array; null where the device is a GPU}
   *
   * @throws IllegalStateException if this is closed
   */
  public @Nullable ArrayTensor array() {
    checkOpen();
    return array;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the device buffer is closed");
    }
  }

  /**
   * Copies host memory to the start of this buffer.
   *
   * @param source in this buffer's element type, at most as long
   * @throws UserError if it is longer
   * @throws IllegalStateException if this is closed
   */
  public void copyFrom(MemorySegment source) {
    checkFits(source);
    if (memory != null && copies != null) {
      memory.copyFrom(source, copies);
      copies.synchronize();
    } else {
      host().copyFrom(source);
    }
  }

  /**
   * Copies host memory to the start of this buffer when the stream's work so far is done.
   *
   * @param source in this buffer's element type, at most as long; it may be changed at once
   * @param stream of the same device
   * @throws UserError if it is longer, or the stream another device's
   * @throws IllegalStateException if this or the stream is closed
   */
  public void copyFrom(MemorySegment source, DeviceStream stream) {
    checkFits(source);
    CudaStream cuda = on(stream);
    if (memory != null && cuda != null) {
      memory.copyFrom(source, cuda);
    } else {
      host().copyFrom(source);
    }
  }

  /**
   * Waits for the stream's work so far, and copies the start of this buffer to host memory.
   *
   * @param target in this buffer's element type, at most as long; filled
   * @param stream of the same device
   * @throws UserError if it is longer, or the stream another device's
   * @throws IllegalStateException if this or the stream is closed
   */
  public void copyTo(MemorySegment target, DeviceStream stream) {
    checkFits(target);
    CudaStream cuda = on(stream);
    if (memory != null && cuda != null) {
      memory.copyTo(target, cuda);
    } else {
      target.copyFrom(host().asSlice(0, target.byteSize()));
    }
  }

  private @Nullable CudaStream on(DeviceStream stream) {
    CudaStream cuda = stream.cuda();
    if (cuda == null ? memory != null : memory == null || memory.context() != cuda.context()) {
      throw new UserError("the device buffer and the stream are of different devices");
    }
    return cuda;
  }

  /**
   * Copies the start of this buffer to host memory.
   *
   * @param target in this buffer's element type, at most as long; filled
   * @throws UserError if it is longer
   * @throws IllegalStateException if this is closed
   */
  public void copyTo(MemorySegment target) {
    checkFits(target);
    if (memory != null && copies != null) {
      memory.copyTo(target, copies);
    } else {
      target.copyFrom(host().asSlice(0, target.byteSize()));
    }
  }

  private void checkFits(MemorySegment host) {
    checkOpen();
    if (host.byteSize() > elements * type.bytes()) {
      throw new UserError(
          "the memory segment has "
              + host.byteSize()
              + " bytes, the device buffer "
              + elements * type.bytes()
              + " ("
              + elements
              + " elements of "
              + type
              + ")");
    }
  }

  private MemorySegment host() {
    return switch (array == null ? null : array.array()) {
      case float[] a -> MemorySegment.ofArray(a);
      case short[] a -> MemorySegment.ofArray(a);
      case null, default -> throw new IllegalStateException("no array");
    };
  }

  /** {@return all elements of a buffer of f32} */
  public float[] toFloats() {
    if (type != DType.F32) {
      throw new UserError("the device buffer holds " + type + "; copyTo gives its bits");
    }
    float[] floats = new float[Math.toIntExact(elements)];
    copyTo(MemorySegment.ofArray(floats));
    return floats;
  }

  /** Gives the memory back; does nothing the second time. */
  @Override
  public void close() {
    closed = true;
    if (memory != null && copies != null) {
      memory.close();
      copies.close();
    }
  }

  @Override
  public String toString() {
    return "device buffer of " + elements + " elements of " + type;
  }
}
