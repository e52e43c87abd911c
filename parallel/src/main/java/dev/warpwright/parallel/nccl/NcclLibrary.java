package dev.warpwright.parallel.nccl;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.base.DeviceError;
import dev.warpwright.runtime.call.Downcall;
import dev.warpwright.runtime.cuda.NativeFunctions;
import dev.warpwright.target.host.NativeLibraries;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The functions of {@code libnccl}, and what they return told as errors. Numbers are those of its
 * header, {@code nccl.h}. A {@code long} is a pointer or a handle.
 */
public final class NcclLibrary {
  /** Names the library's file. */
  public static final String VARIABLE = "WARPWRIGHT_NCCL";

  private static final List<String> NAMES = List.of("libnccl.so.2", "libnccl.so");
  private static final int SUCCESS = 0;

  /** Longest message that is read. */
  private static final long MESSAGE = 4096;

  private final NativeFunctions functions;
  private final MethodHandle allReduce;
  private final MethodHandle groupStart;
  private final MethodHandle groupEnd;

  /** Functions from somewhere: from a library, or from what stands in its place. */
  public NcclLibrary(NativeFunctions functions) {
    this.functions = functions;
    this.allReduce =
        bind(
            "ncclAllReduce",
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            JAVA_LONG);
    this.groupStart = bind("ncclGroupStart");
    this.groupEnd = bind("ncclGroupEnd");
  }

  /**
   * Loads the library: the file that {@value #VARIABLE} names, else {@code libnccl.so.2} of the
   * toolkit, the system or PyTorch's packages.
   *
   * @throws DeviceError if there is none, or it cannot be loaded
   */
  public static NcclLibrary load() {
    return load(System.getenv(VARIABLE), NativeLibraries.system());
  }

  static NcclLibrary load(@Nullable String named, NativeLibraries libraries) {
    Path file =
        named != null && !named.isEmpty()
            ? Path.of(named)
            : libraries
                .library(NAMES)
                .orElseThrow(
                    () ->
                        new DeviceError(
                            "NCCL is not installed: no "
                                + NAMES.getFirst()
                                + " in the CUDA toolkit, the system's folders or PyTorch's"
                                + " packages; install it, or name it by "
                                + VARIABLE));
    if (!Files.isRegularFile(file)) {
      throw new DeviceError(VARIABLE + "=" + file + ": there is no such file");
    }
    try {
      return new NcclLibrary(
          NativeFunctions.of(SymbolLookup.libraryLookup(file.toAbsolutePath(), Arena.global())));
    } catch (IllegalArgumentException e) {
      throw new DeviceError("NCCL cannot be loaded from " + file + ": " + e.getMessage(), e);
    } catch (IllegalCallerException e) {
      throw new DeviceError(
          "this Java may not call native code; start it with --enable-native-access", e);
    }
  }

  private MethodHandle bind(String symbol, ValueLayout... arguments) {
    return functions
        .find(symbol, FunctionDescriptor.of(JAVA_INT, (MemoryLayout[]) arguments))
        .orElseThrow(
            () -> new DeviceError("this NCCL has no " + symbol + ": it is too old; NCCL 2 has it"));
  }

  /** As its users write it: {@code 2.27.3}. */
  public String version() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_INT);
      check(Downcall.call(bind("ncclGetVersion", JAVA_LONG), out.address()), "ncclGetVersion");
      int code = out.get(JAVA_INT, 0);
      // Until 2.8 a hundred was a minor version, since then it is a patch.
      return code < 10_000
          ? String.format(Locale.ROOT, "%d.%d.%d", code / 1000, code % 1000 / 100, code % 100)
          : String.format(Locale.ROOT, "%d.%d.%d", code / 10_000, code % 10_000 / 100, code % 100);
    }
  }

  /**
   * A communicator for each device, in this process.
   *
   * @param ordinals of the devices, as the driver numbers them
   */
  long[] communicators(int[] ordinals) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG, ordinals.length);
      MemorySegment devices = arena.allocateFrom(JAVA_INT, ordinals);
      check(
          Downcall.call(
              bind("ncclCommInitAll", JAVA_LONG, JAVA_INT, JAVA_LONG),
              out.address(),
              ordinals.length,
              devices.address()),
          "ncclCommInitAll");
      return out.toArray(JAVA_LONG);
    }
  }

  void destroy(long communicator) {
    check(Downcall.call(bind("ncclCommDestroy", JAVA_LONG), communicator), "ncclCommDestroy");
  }

  void startGroup() {
    check(Downcall.call(groupStart), "ncclGroupStart");
  }

  void endGroup() {
    check(Downcall.call(groupEnd), "ncclGroupEnd");
  }

  /** Sums in place, on a stream. */
  void allReduce(long buffer, long count, int type, long communicator, long stream) {
    int status;
    try {
      status = (int) allReduce.invokeExact(buffer, buffer, count, type, 0, communicator, stream);
    } catch (Throwable t) {
      throw Downcall.unexpected(t);
    }
    check(status, "ncclAllReduce");
  }

  private void check(int status, String call) {
    if (status != SUCCESS) {
      throw new DeviceError(call + " failed: " + message(status) + " (" + status + ")");
    }
  }

  private String message(int status) {
    MethodHandle text =
        functions
            .find("ncclGetErrorString", FunctionDescriptor.of(JAVA_LONG, JAVA_INT))
            .orElse(null);
    if (text == null) {
      return "NCCL says no more";
    }
    try {
      long address = (long) text.invokeExact(status);
      return address == 0
          ? "NCCL says no more"
          : MemorySegment.ofAddress(address).reinterpret(MESSAGE).getString(0);
    } catch (Throwable t) {
      throw Downcall.unexpected(t);
    }
  }
}
