package dev.warpwright.runtime.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.base.DeviceError;
import dev.warpwright.runtime.call.Downcall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.util.List;

/**
 * The 128 bytes that tell the TMA copy engine (from compute capability 9.0 on) where a tensor lies
 * and how it is cut into boxes. Passed to kernels by value; it holds nothing on the device.
 */
public final class TensorMap {
  /** Bytes, and their alignment, of a {@code CUtensorMap}. */
  public static final int BYTES = 128;

  private final CudaBuffer buffer;
  private final MemorySegment memory;

  private TensorMap(CudaBuffer buffer, MemorySegment memory) {
    this.buffer = buffer;
    this.memory = memory;
  }

  /**
   * {@return encodes a tensor of a buffer}
   *
   * @param buffer what it lies in
   * @param offset bytes from the buffer's start to its first element
   * @param spec the tensor and its boxes
   * @throws IllegalArgumentException if the tensor reaches beyond the buffer
   * @throws DeviceError if the driver refuses, or is too old
   */
  public static TensorMap tiled(CudaBuffer buffer, long offset, TensorMapSpec spec) {
    if (offset < 0 || Math.addExact(offset, spec.bytes()) > buffer.bytes()) {
      throw new IllegalArgumentException(
          "a tensor of " + spec.bytes() + " bytes at " + offset + " reaches beyond a " + buffer);
    }
    long start = buffer.address() + offset;
    spec.checkAddress(start);
    buffer.use();
    MemorySegment memory = Arena.ofAuto().allocate(BYTES, BYTES);
    int status;
    try (Arena arena = Arena.ofConfined()) {
      status =
          Encode.call(
              memory.address(),
              spec,
              start,
              longs(arena, spec.dims()),
              longs(arena, spec.strides()),
              ints(arena, spec.box()),
              ints(arena, spec.elementStrides()));
    } finally {
      Reference.reachabilityFence(memory);
    }
    buffer.context().check(status, "cuTensorMapEncodeTiled of " + spec);
    return new TensorMap(buffer, memory);
  }

  CudaBuffer buffer() {
    return buffer;
  }

  MemorySegment memory() {
    return memory;
  }

  private static long longs(Arena arena, List<Long> values) {
    // Rank 1 has no strides, and the driver still wants a pointer.
    MemorySegment array = arena.allocate(JAVA_LONG, Math.max(1, values.size()));
    for (int i = 0; i < values.size(); i++) {
      array.setAtIndex(JAVA_LONG, i, values.get(i));
    }
    return array.address();
  }

  private static long ints(Arena arena, List<Integer> values) {
    MemorySegment array = arena.allocate(JAVA_INT, values.size());
    for (int i = 0; i < values.size(); i++) {
      array.setAtIndex(JAVA_INT, i, values.get(i));
    }
    return array.address();
  }

  /** The driver's function, apart from the others because only newer drivers have it. */
  private static final class Encode {
    private static final MethodHandle ENCODE =
        DriverLibrary.bind(
            "cuTensorMapEncodeTiled",
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT);

    static int call(
        long map, TensorMapSpec spec, long start, long dims, long strides, long box, long steps) {
      try {
        return (int)
            ENCODE.invokeExact(
                map,
                spec.type().code(),
                spec.dims().size(),
                start,
                dims,
                strides,
                box,
                steps,
                0,
                spec.swizzle().code(),
                spec.l2Promotion().code(),
                spec.outOfBounds().code());
      } catch (Throwable t) {
        throw Downcall.unexpected(t);
      }
    }
  }
}
