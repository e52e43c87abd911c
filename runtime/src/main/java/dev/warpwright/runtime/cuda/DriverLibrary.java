package dev.warpwright.runtime.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.base.DeviceError;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The loaded libcuda, or why there is none. */
public final class DriverLibrary {
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
        why = "this Java may not call native code: start it with --enable-native-access";
        break;
      } catch (IllegalArgumentException e) {
        // Not there, or not for this processor: the next place.
      }
    }
    SYMBOLS = symbols;
    WHY_MISSING = why;
  }

  private DriverLibrary() {}

  /**
   * A function that callers hold: constant for the compiler as long as nobody takes the driver's
   * place.
   */
  private record Bound(String symbol, FunctionDescriptor descriptor, MutableCallSite site) {
    void link() {
      site.setTarget(target(symbol, descriptor));
    }
  }

  private static final List<Bound> BOUND = new ArrayList<>();
  private static volatile @Nullable NativeFunctions replacement;

  /** Why the library could not be loaded; empty if it was. */
  static Optional<String> whyMissing() {
    return SYMBOLS == null && replacement == null ? Optional.of(WHY_MISSING) : Optional.empty();
  }

  /** {@return what takes the driver's place; null if nothing does} */
  public static @Nullable NativeFunctions replacement() {
    return replacement;
  }

  /** Takes all functions from somewhere else; from the driver again if {@code null}. */
  static void use(@Nullable NativeFunctions functions) {
    synchronized (BOUND) {
      replacement = functions;
      BOUND.forEach(Bound::link);
      MutableCallSite.syncAll(BOUND.stream().map(Bound::site).toArray(MutableCallSite[]::new));
    }
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
    Bound bound = new Bound(symbol, descriptor, new MutableCallSite(target(symbol, descriptor)));
    synchronized (BOUND) {
      BOUND.add(bound);
    }
    return bound.site().dynamicInvoker();
  }

  private static MethodHandle target(String symbol, FunctionDescriptor descriptor) {
    return find(symbol, descriptor).orElseGet(() -> lacking(symbol, descriptor.toMethodType()));
  }

  /** Whether this driver has a function that takes so many {@code long}s; nothing is linked. */
  static boolean has(String symbol, int longs) {
    NativeFunctions functions = replacement;
    if (functions == null) {
      return SYMBOLS != null && SYMBOLS.find(symbol).isPresent();
    }
    ValueLayout[] arguments = new ValueLayout[longs];
    Arrays.fill(arguments, JAVA_LONG);
    return functions.find(symbol, FunctionDescriptor.of(JAVA_INT, arguments)).isPresent();
  }

  private static Optional<MethodHandle> find(String symbol, FunctionDescriptor descriptor) {
    NativeFunctions functions = replacement;
    if (functions != null) {
      return functions.find(symbol, descriptor);
    }
    return SYMBOLS == null
        ? Optional.empty()
        : NativeFunctions.of(SYMBOLS).find(symbol, descriptor);
  }

  private static MethodHandle lacking(String symbol, MethodType type) {
    DeviceError error =
        new DeviceError(
            "the NVIDIA driver has no " + symbol + ": it is missing or too old; update the driver");
    MethodHandle thrower = MethodHandles.throwException(int.class, DeviceError.class).bindTo(error);
    return MethodHandles.dropArguments(thrower, 0, type.parameterList());
  }
}
