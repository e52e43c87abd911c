package dev.warpwright.cuda.compile;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The functions of one loaded libnvrtc. Every {@code int} returned is an {@code nvrtcResult}, 0 for
 * success.
 */
final class NvrtcLibrary {
  private final MethodHandle createProgram;
  private final MethodHandle compileProgram;
  private final MethodHandle destroyProgram;
  private final MethodHandle cubinSize;
  private final MethodHandle cubin;
  private final MethodHandle logSize;
  private final MethodHandle log;
  private final MethodHandle errorString;
  private final int major;
  private final int minor;

  private NvrtcLibrary(SymbolLookup symbols) {
    createProgram =
        bind(symbols, "nvrtcCreateProgram", ADDRESS, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS);
    compileProgram = bind(symbols, "nvrtcCompileProgram", ADDRESS, JAVA_INT, ADDRESS);
    destroyProgram = bind(symbols, "nvrtcDestroyProgram", ADDRESS);
    cubinSize = bind(symbols, "nvrtcGetCUBINSize", ADDRESS, ADDRESS);
    cubin = bind(symbols, "nvrtcGetCUBIN", ADDRESS, ADDRESS);
    logSize = bind(symbols, "nvrtcGetProgramLogSize", ADDRESS, ADDRESS);
    log = bind(symbols, "nvrtcGetProgramLog", ADDRESS, ADDRESS);
    errorString =
        Linker.nativeLinker()
            .downcallHandle(
                symbols.findOrThrow("nvrtcGetErrorString"),
                FunctionDescriptor.of(ADDRESS, JAVA_INT));
    MethodHandle version = bind(symbols, "nvrtcVersion", ADDRESS, ADDRESS);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment numbers = arena.allocate(JAVA_INT, 2);
      int status = (int) version.invokeExact(numbers, numbers.asSlice(4));
      if (status != 0) {
        throw new CompileError("nvrtcVersion failed with status " + status, "");
      }
      major = numbers.getAtIndex(JAVA_INT, 0);
      minor = numbers.getAtIndex(JAVA_INT, 1);
    } catch (Throwable t) {
      throw rethrow(t);
    }
  }

  /**
   * Loads the library and, before it, the builtins that it opens by name while compiling: pip's
   * folders are not on the loader's path.
   *
   * @throws CompileError if it cannot be loaded or lacks a function
   */
  static NvrtcLibrary load(Path library) {
    try {
      Path real = library.toRealPath();
      try (DirectoryStream<Path> builtins =
          Files.newDirectoryStream(real.getParent(), "libnvrtc-builtins.so*")) {
        for (Path file : builtins) {
          SymbolLookup.libraryLookup(file, Arena.global());
        }
      }
      return new NvrtcLibrary(SymbolLookup.libraryLookup(real, Arena.global()));
    } catch (IOException | IllegalArgumentException | java.util.NoSuchElementException e) {
      throw new CompileError("cannot load " + library + ": " + e.getMessage(), "");
    }
  }

  int major() {
    return major;
  }

  int minor() {
    return minor;
  }

  int createProgram(MemorySegment handle, MemorySegment source, MemorySegment name) {
    MemorySegment none = MemorySegment.NULL;
    try {
      return (int) createProgram.invokeExact(handle, source, name, 0, none, none);
    } catch (Throwable t) {
      throw rethrow(t);
    }
  }

  int compileProgram(MemorySegment program, int options, MemorySegment list) {
    try {
      return (int) compileProgram.invokeExact(program, options, list);
    } catch (Throwable t) {
      throw rethrow(t);
    }
  }

  /** Frees a program; {@code handle} points to it. A failure here loses memory and nothing else. */
  void destroyProgram(MemorySegment handle) {
    try {
      int _ = (int) destroyProgram.invokeExact(handle);
    } catch (Throwable t) {
      throw rethrow(t);
    }
  }

  int cubinSize(MemorySegment program, MemorySegment size) {
    return read(cubinSize, program, size);
  }

  int cubin(MemorySegment program, MemorySegment bytes) {
    return read(cubin, program, bytes);
  }

  int logSize(MemorySegment program, MemorySegment size) {
    return read(logSize, program, size);
  }

  int log(MemorySegment program, MemorySegment text) {
    return read(log, program, text);
  }

  /** The name of a result, for example {@code NVRTC_ERROR_COMPILATION}. */
  String errorString(int status) {
    try {
      MemorySegment text = (MemorySegment) errorString.invokeExact(status);
      return text.reinterpret(Long.MAX_VALUE).getString(0);
    } catch (Throwable t) {
      throw rethrow(t);
    }
  }

  private static int read(MethodHandle function, MemorySegment program, MemorySegment out) {
    try {
      return (int) function.invokeExact(program, out);
    } catch (Throwable t) {
      throw rethrow(t);
    }
  }

  private static MethodHandle bind(SymbolLookup symbols, String name, ValueLayout... arguments) {
    return Linker.nativeLinker()
        .downcallHandle(symbols.findOrThrow(name), FunctionDescriptor.of(JAVA_INT, arguments));
  }

  /** Downcalls throw nothing checked. */
  private static RuntimeException rethrow(Throwable t) {
    if (t instanceof Error error) {
      throw error;
    }
    return t instanceof RuntimeException e ? e : new IllegalStateException(t);
  }
}
