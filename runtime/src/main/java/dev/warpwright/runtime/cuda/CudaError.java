package dev.warpwright.runtime.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.base.DeviceError;
import dev.warpwright.runtime.call.Downcall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Turns a {@code CUresult} into an error of one line. */
final class CudaError {
  static final int SUCCESS = 0;
  static final int DEINITIALIZED = 4;
  static final int NO_DEVICE = 100;
  static final int NOT_READY = 600;

  private static final MethodHandle NAME =
      DriverLibrary.bind("cuGetErrorName", JAVA_INT, JAVA_LONG);
  private static final MethodHandle TEXT =
      DriverLibrary.bind("cuGetErrorString", JAVA_INT, JAVA_LONG);

  private CudaError() {}

  /**
   * @param call the driver's function, with what matters of its arguments
   * @throws DeviceError if {@code status} is no success
   */
  static void check(int status, String call) {
    if (status != SUCCESS) {
      throw new DeviceError(call + " failed: " + describe(status));
    }
  }

  /** A result's name and meaning: {@code CUDA_ERROR_OUT_OF_MEMORY (out of memory)}. */
  static String describe(int status) {
    return text(NAME, status, "CUresult " + status) + " (" + text(TEXT, status, "unknown") + ")";
  }

  /**
   * Whether the context is unusable after this result; every later call on it fails in the same
   * way.
   */
  static boolean isSticky(int status) {
    return switch (status) {
      case 214, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 999 -> true;
      default -> false;
    };
  }

  private static String text(MethodHandle function, int status, String unknown) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment pointer = arena.allocate(JAVA_LONG);
      if (Downcall.call(function, status, pointer.address()) != SUCCESS) {
        return unknown;
      }
      long address = pointer.get(JAVA_LONG, 0);
      return MemorySegment.ofAddress(address).reinterpret(Long.MAX_VALUE).getString(0);
    }
  }
}
