package dev.warpwright.runtime.cuda;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Where the functions of NVIDIA's driver and matrix libraries come from: from the libraries, or
 * from something in their place, such as a device in Java that keeps its memory in the process and
 * a clock of its own. All that lies above, from contexts to graphs, is the same for both.
 */
@FunctionalInterface
public interface NativeFunctions {
  /**
   * A function.
   *
   * @param symbol its name in the library
   * @param descriptor of what it takes and returns
   * @return a handle of the descriptor's type; nothing if the library has none of this name
   */
  Optional<MethodHandle> find(String symbol, FunctionDescriptor descriptor);

  /**
   * {@return those of a loaded library}
   *
   * @param library stays loaded as long as its arena
   */
  static NativeFunctions of(SymbolLookup library) {
    return (symbol, descriptor) ->
        library
            .find(symbol)
            .map(address -> Linker.nativeLinker().downcallHandle(address, descriptor));
  }

  /**
   * Takes the place of the driver, and of the matrix libraries whose functions it has, for the
   * whole process. What was made before must be closed, and what is made meanwhile is closed before
   * it ends.
   *
   * @param functions asked for each symbol when it is first used
   * @return ends it
   */
  static Replacement replace(NativeFunctions functions) {
    DriverLibrary.use(functions);
    CudaDriver.forget();
    return () -> {
      DriverLibrary.use(null);
      CudaDriver.forget();
    };
  }

  /** Something in the driver's place. */
  @FunctionalInterface
  interface Replacement extends AutoCloseable {
    @Override
    void close();
  }
}
