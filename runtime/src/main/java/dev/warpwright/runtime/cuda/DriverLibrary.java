package dev.warpwright.runtime.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.warpwright.ir.DeviceError;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The loaded libcuda, or why there is none. */
final class DriverLibrary {
  private static final List<String> NAMES =
      List.of(
          "libcuda.so.1",
          "/usr/local/nvidia/lib64/libcuda.so.1",
          "/usr/local/nvidia/lib/libcuda.so.1",
          "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
          "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
          "/usr/lib64/libcuda.so.1",
          "/usr/lib/wsl/lib/libcuda.so.1");

  private static final @Nullable SymbolLookup SYMBOLS;
  private static final String WHY_MISSING;

  static {
    SymbolLookup symbols = null;
    String why = "libcuda.so.1 not found";
    for (String name : NAMES) {
      try {
        symbols = SymbolLookup.libraryLookup(name, Arena.global());
        why = "";
        break;
      } catch (IllegalCallerException e) {
        why = "this Java may not call native code; start it with --enable-native-access";
        break;
      } catch (IllegalArgumentException e) {
        // Not there, or not for this processor: the next place.
      }
    }
    SYMBOLS = symbols;
    WHY_MISSING = why;
  }

  private DriverLibrary() {}

  /** Why the library could not be loaded; empty if it was. */
  static Optional<String> whyMissing() {
    return SYMBOLS == null ? Optional.of(WHY_MISSING) : Optional.empty();
  }

  /**
   * A function that returns a {@code CUresult}. If this driver lacks it, the handle throws {@link
   * DeviceError}: an old driver fails where a new function is used and nowhere else.
   *
   * <p>Handles, device addresses, host pointers and sizes are all {@code long}, so that few shapes
   * of calls have to be linked, which is most of the time that the first use of a function takes.
   */
  static MethodHandle bind(String symbol, ValueLayout... arguments) {
    FunctionDescriptor descriptor = FunctionDescriptor.of(JAVA_INT, arguments);
    return find(symbol)
        .map(address -> Linker.nativeLinker().downcallHandle(address, descriptor))
        .orElseGet(() -> lacking(symbol, descriptor.toMethodType()));
  }

  /** Whether this driver has a function. */
  static boolean has(String symbol) {
    return find(symbol).isPresent();
  }

  private static Optional<MemorySegment> find(String symbol) {
    return SYMBOLS == null ? Optional.empty() : SYMBOLS.find(symbol);
  }

  private static MethodHandle lacking(String symbol, MethodType type) {
    DeviceError error =
        new DeviceError(
            "the NVIDIA driver has no " + symbol + ": it is missing or too old; update the driver");
    MethodHandle thrower = MethodHandles.throwException(int.class, DeviceError.class).bindTo(error);
    return MethodHandles.dropArguments(thrower, 0, type.parameterList());
  }
}
