package dev.warpwright.cuda.compile;

import dev.warpwright.base.DeviceError;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.host.NativeLibraries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The compilers of this machine. */
public final class CudaCompilers {
  private static final String MISSING =
      "no CUDA compiler: neither libnvrtc.so.13 or .12 nor nvcc was found; install the CUDA toolkit"
          + " or 'pip install nvidia-cuda-nvrtc', or set CUDA_HOME";

  private static volatile @Nullable CudaCompiler replacement;

  private CudaCompilers() {}

  /**
   * Lets another compiler take the place of this machine's, for the whole process; from null on,
   * those of the machine are used again. It belongs to a device that is none of NVIDIA's.
   */
  public static void replace(@Nullable CudaCompiler compiler) {
    replacement = compiler;
  }

  /** Compiles CUDA C++ for a target, as {@link #compile(CompileRequest)}. */
  public static Cubin compile(String source, GpuTarget target) {
    return compile(new CompileRequest(source, target.name()));
  }

  /**
   * Compiles by the machine's compiler and the user's cache.
   *
   * @throws DeviceError if there is no compiler, or it refuses the source
   */
  public static Cubin compile(CompileRequest request) {
    CudaCompiler instead = replacement;
    return instead != null
        ? instead.compile(request)
        : new CachedCompiler(require(), CubinCache.system()).compile(request);
  }

  /**
   * NVRTC if it is installed, else nvcc, else nothing. Only files are looked for; no library is
   * loaded.
   */
  public static Optional<CudaCompiler> system() {
    CudaCompiler instead = replacement;
    if (instead != null) {
      return Optional.of(instead);
    }
    NativeLibraries libraries = NativeLibraries.system();
    return Nvrtc.find(libraries).<CudaCompiler>map(c -> c).or(() -> Nvcc.find(libraries));
  }

  /**
   * Like {@link #system()}, but a compiler is needed.
   *
   * @throws DeviceError if there is none
   */
  public static CudaCompiler require() {
    return system().orElseThrow(() -> new DeviceError(MISSING));
  }

  /** NVRTC, if it is installed. */
  public static Optional<Nvrtc> nvrtc() {
    return replacement == null ? Nvrtc.find(NativeLibraries.system()) : Optional.empty();
  }

  /** nvcc, if it is installed. */
  public static Optional<Nvcc> nvcc() {
    return Nvcc.find(NativeLibraries.system());
  }

  /**
   * A file as part of an identity: its true path, which carries the version of a library, its size
   * and its age.
   */
  static String stamp(Path file) {
    try {
      Path real = file.toRealPath();
      return real + " " + Files.size(real) + " " + Files.getLastModifiedTime(real).toMillis();
    } catch (IOException e) {
      return file.toString();
    }
  }
}
