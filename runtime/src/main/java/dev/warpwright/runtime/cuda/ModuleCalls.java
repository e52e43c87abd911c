package dev.warpwright.runtime.cuda;

import static dev.warpwright.runtime.cuda.DriverLibrary.bind;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.runtime.call.Downcall;
import java.lang.invoke.MethodHandle;

/**
 * The driver's functions on modules, kernels and launches. A {@code long} is a pointer or a handle.
 */
final class ModuleCalls {
  private static final MethodHandle LOAD =
      bind("cuModuleLoadDataEx", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle UNLOAD = bind("cuModuleUnload", JAVA_LONG);
  private static final MethodHandle FUNCTION =
      bind("cuModuleGetFunction", JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle SET_ATTRIBUTE =
      bind("cuFuncSetAttribute", JAVA_LONG, JAVA_INT, JAVA_INT);
  private static final MethodHandle GET_ATTRIBUTE =
      bind("cuFuncGetAttribute", JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle LAUNCH =
      bind(
          "cuLaunchKernel",
          JAVA_LONG,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG);

  private ModuleCalls() {}

  static int load(long outModule, long image) {
    return Downcall.call(LOAD, outModule, image, 0, 0L, 0L);
  }

  static int unload(long module) {
    return Downcall.call(UNLOAD, module);
  }

  static int function(long outFunction, long module, long name) {
    return Downcall.call(FUNCTION, outFunction, module, name);
  }

  static int setAttribute(long function, int attribute, int value) {
    return Downcall.call(SET_ATTRIBUTE, function, attribute, value);
  }

  static int attribute(long outInt, int attribute, long function) {
    return Downcall.call(GET_ATTRIBUTE, outInt, attribute, function);
  }

  /** The plain launch, which every driver has. */
  static int launch(long function, LaunchConfig config, long stream, long parameters) {
    Dim3 grid = config.grid();
    Dim3 block = config.block();
    try {
      return (int)
          LAUNCH.invokeExact(
              function,
              grid.x(),
              grid.y(),
              grid.z(),
              block.x(),
              block.y(),
              block.z(),
              config.dynamicShared(),
              stream,
              parameters,
              0L);
    } catch (Throwable t) {
      throw Downcall.unexpected(t);
    }
  }

  /** The launch with attributes; apart, because drivers before 11.8 lack it. */
  static final class Extended {
    private static final MethodHandle LAUNCH_EX =
        bind("cuLaunchKernelEx", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private Extended() {}

    static int launch(long config, long function, long parameters) {
      return Downcall.call(LAUNCH_EX, config, function, parameters, 0L);
    }
  }

  /** What a kernel expects, from 12.4 on. */
  static final class Parameters {
    private static final String SYMBOL = "cuFuncGetParamInfo";
    private static final MethodHandle INFO =
        bind(SYMBOL, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private Parameters() {}

    static boolean areKnown() {
      return DriverLibrary.has(SYMBOL, 4);
    }

    static int info(long function, long index, long outOffset, long outSize) {
      return Downcall.call(INFO, function, index, outOffset, outSize);
    }
  }
}
