package dev.warpwright.runtime.cuda;

import static dev.warpwright.runtime.cuda.DriverLibrary.bind;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.runtime.call.Downcall;
import java.lang.invoke.MethodHandle;

/** The driver's functions on devices and contexts. A {@code long} is a pointer or a handle. */
final class DeviceCalls {
  private static final MethodHandle INIT = bind("cuInit", JAVA_INT);
  private static final MethodHandle VERSION = bind("cuDriverGetVersion", JAVA_LONG);
  private static final MethodHandle COUNT = bind("cuDeviceGetCount", JAVA_LONG);
  private static final MethodHandle GET = bind("cuDeviceGet", JAVA_LONG, JAVA_INT);
  private static final MethodHandle NAME = bind("cuDeviceGetName", JAVA_LONG, JAVA_INT, JAVA_INT);
  private static final MethodHandle MEMORY = bind("cuDeviceTotalMem_v2", JAVA_LONG, JAVA_INT);
  private static final MethodHandle UUID = bind("cuDeviceGetUuid_v2", JAVA_LONG, JAVA_INT);
  private static final MethodHandle ATTRIBUTE =
      bind("cuDeviceGetAttribute", JAVA_LONG, JAVA_INT, JAVA_INT);
  private static final MethodHandle RETAIN = bind("cuDevicePrimaryCtxRetain", JAVA_LONG, JAVA_INT);
  private static final MethodHandle RELEASE = bind("cuDevicePrimaryCtxRelease_v2", JAVA_INT);
  private static final MethodHandle SET_CURRENT = bind("cuCtxSetCurrent", JAVA_LONG);
  private static final MethodHandle SYNCHRONIZE = bind("cuCtxSynchronize");
  private static final MethodHandle MEMORY_INFO = bind("cuMemGetInfo_v2", JAVA_LONG, JAVA_LONG);

  private DeviceCalls() {}

  static int init() {
    return Downcall.call(INIT, 0);
  }

  static int version(long outInt) {
    return Downcall.call(VERSION, outInt);
  }

  static int count(long outInt) {
    return Downcall.call(COUNT, outInt);
  }

  static int get(long outDevice, int ordinal) {
    return Downcall.call(GET, outDevice, ordinal);
  }

  static int name(long outText, int bytes, int device) {
    return Downcall.call(NAME, outText, bytes, device);
  }

  static int memory(long outBytes, int device) {
    return Downcall.call(MEMORY, outBytes, device);
  }

  static int uuid(long out16Bytes, int device) {
    return Downcall.call(UUID, out16Bytes, device);
  }

  static int attribute(long outInt, int attribute, int device) {
    return Downcall.call(ATTRIBUTE, outInt, attribute, device);
  }

  static int retainPrimaryContext(long outContext, int device) {
    return Downcall.call(RETAIN, outContext, device);
  }

  static int releasePrimaryContext(int device) {
    return Downcall.call(RELEASE, device);
  }

  static int setCurrent(long context) {
    return Downcall.call(SET_CURRENT, context);
  }

  static int synchronize() {
    return Downcall.call(SYNCHRONIZE);
  }

  static int memoryInfo(long outFree, long outTotal) {
    return Downcall.call(MEMORY_INFO, outFree, outTotal);
  }
}
