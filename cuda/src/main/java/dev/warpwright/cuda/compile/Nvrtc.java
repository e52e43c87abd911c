package dev.warpwright.cuda.compile;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warpwright.target.host.NativeLibraries;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * NVIDIA's compiler as a library: no process, no files, about 10 ms a kernel once warm.
 *
 * <p>The library is loaded at the first compilation, which takes a few hundred milliseconds;
 * finding it and asking for its identity load nothing.
 */
public final class Nvrtc implements CudaCompiler {
  private static final List<String> NAMES = List.of("libnvrtc.so.13", "libnvrtc.so.12");
  private static final List<String> FLAGS =
      List.of("-std=c++17", "--fmad=false", "--ptxas-options=-v");
  private static final int SUCCESS = 0;

  private final Path library;
  private @Nullable NvrtcLibrary loaded;

  Nvrtc(Path library) {
    this.library = library;
  }

  static Optional<Nvrtc> find(NativeLibraries libraries) {
    return libraries.library(NAMES).map(Nvrtc::new);
  }

  @Override
  public String describe() {
    return "NVRTC (" + library + ")";
  }

  @Override
  public String identity() {
    return "nvrtc " + CudaCompilers.stamp(library) + " " + FLAGS;
  }

  /**
   * The library's version, for example {@code 13.0}; loads it.
   *
   * @throws CompileError if it cannot be loaded
   */
  public String version() {
    NvrtcLibrary nvrtc = load();
    return nvrtc.major() + "." + nvrtc.minor();
  }

  @Override
  public Cubin compile(CompileRequest request) {
    NvrtcLibrary nvrtc = load();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment handle = arena.allocate(ValueLayout.ADDRESS);
      check(
          nvrtc,
          "nvrtcCreateProgram",
          nvrtc.createProgram(
              handle, arena.allocateFrom(request.source()), arena.allocateFrom("kernel.cu")));
      try {
        return compile(nvrtc, handle.get(ValueLayout.ADDRESS, 0), request, arena);
      } finally {
        nvrtc.destroyProgram(handle);
      }
    }
  }

  private Cubin compile(
      NvrtcLibrary nvrtc, MemorySegment program, CompileRequest request, Arena arena) {
    List<String> options = options(nvrtc, request);
    MemorySegment list = arena.allocate(ValueLayout.ADDRESS, options.size());
    for (int i = 0; i < options.size(); i++) {
      list.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(options.get(i)));
    }
    int status = nvrtc.compileProgram(program, options.size(), list);
    String log = log(nvrtc, program, arena);
    if (status != SUCCESS) {
      throw CompileError.fromLog(
          "NVRTC " + version(), request.arch(), nvrtc.errorString(status), log);
    }
    MemorySegment size = arena.allocate(ValueLayout.JAVA_LONG);
    check(nvrtc, "nvrtcGetCUBINSize", nvrtc.cubinSize(program, size));
    MemorySegment cubin = arena.allocate(size.get(ValueLayout.JAVA_LONG, 0));
    check(nvrtc, "nvrtcGetCUBIN", nvrtc.cubin(program, cubin));
    return new Cubin(cubin.toArray(ValueLayout.JAVA_BYTE), log);
  }

  private static List<String> options(NvrtcLibrary nvrtc, CompileRequest request) {
    List<String> options = new ArrayList<>(List.of("-arch=" + request.arch()));
    options.addAll(FLAGS);
    if (nvrtc.major() > 12 || (nvrtc.major() == 12 && nvrtc.minor() >= 9)) {
      // Its own cache, new in 12.9, would answer without running ptxas: then the log says nothing
      // of registers.
      options.add("--no-cache");
    }
    options.addAll(request.options());
    return options;
  }

  private static String log(NvrtcLibrary nvrtc, MemorySegment program, Arena arena) {
    MemorySegment size = arena.allocate(ValueLayout.JAVA_LONG);
    check(nvrtc, "nvrtcGetProgramLogSize", nvrtc.logSize(program, size));
    long bytes = size.get(ValueLayout.JAVA_LONG, 0);
    if (bytes <= 1) {
      return "";
    }
    // The size counts the closing zero.
    MemorySegment log = arena.allocate(bytes);
    check(nvrtc, "nvrtcGetProgramLog", nvrtc.log(program, log));
    return new String(log.asSlice(0, bytes - 1).toArray(ValueLayout.JAVA_BYTE), UTF_8);
  }

  private static void check(NvrtcLibrary nvrtc, String call, int status) {
    if (status != SUCCESS) {
      throw new CompileError(call + " failed: " + nvrtc.errorString(status), "");
    }
  }

  private synchronized NvrtcLibrary load() {
    NvrtcLibrary nvrtc = loaded;
    if (nvrtc == null) {
      nvrtc = NvrtcLibrary.load(library);
      loaded = nvrtc;
    }
    return nvrtc;
  }
}
