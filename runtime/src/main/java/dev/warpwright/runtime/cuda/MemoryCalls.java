package dev.warpwright.runtime.cuda;

import static dev.warpwright.runtime.cuda.DriverLibrary.bind;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.runtime.call.Downcall;
import java.lang.invoke.MethodHandle;

/**
 * The driver's functions on memory. A {@code long} is an address, a handle or a number of bytes.
 */
final class MemoryCalls {
  private static final MethodHandle ALLOCATE = bind("cuMemAlloc_v2", JAVA_LONG, JAVA_LONG);
  private static final MethodHandle FREE = bind("cuMemFree_v2", JAVA_LONG);
  private static final MethodHandle ALLOCATE_HOST =
      bind("cuMemHostAlloc", JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle FREE_HOST = bind("cuMemFreeHost", JAVA_LONG);
  private static final MethodHandle TO_DEVICE =
      bind("cuMemcpyHtoDAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle TO_HOST =
      bind("cuMemcpyDtoHAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle ON_DEVICE =
      bind("cuMemcpyDtoDAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  // C promotes the unsigned char to an int; passed as one, no side has to extend it.
  private static final MethodHandle FILL_BYTES =
      bind("cuMemsetD8Async", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);

  private MemoryCalls() {}

  static int allocate(long outAddress, long bytes) {
    return Downcall.call(ALLOCATE, outAddress, bytes);
  }

  static int free(long address) {
    return Downcall.call(FREE, address);
  }

  static int allocateHost(long outPointer, long bytes, int flags) {
    return Downcall.call(ALLOCATE_HOST, outPointer, bytes, flags);
  }

  static int freeHost(long pointer) {
    return Downcall.call(FREE_HOST, pointer);
  }

  static int toDevice(long device, long host, long bytes, long stream) {
    return Downcall.call(TO_DEVICE, device, host, bytes, stream);
  }

  static int toHost(long host, long device, long bytes, long stream) {
    return Downcall.call(TO_HOST, host, device, bytes, stream);
  }

  static int onDevice(long to, long from, long bytes, long stream) {
    return Downcall.call(ON_DEVICE, to, from, bytes, stream);
  }

  static int fillBytes(long address, byte value, long count, long stream) {
    return Downcall.call(FILL_BYTES, address, Byte.toUnsignedInt(value), count, stream);
  }
}
