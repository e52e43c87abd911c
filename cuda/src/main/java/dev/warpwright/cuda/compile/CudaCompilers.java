package dev.warpwright.cuda.compile;

import dev.warpwright.ir.DeviceError;
import dev.warpwright.target.host.NativeLibraries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The compilers of this machine. */
public final class CudaCompilers {
  private static final String MISSING =
      "no CUDA compiler: neither libnvrtc.so.13 or .12 nor nvcc was found; install the CUDA toolkit or"
          + " 'pip install nvidia-cuda-nvrtc', or set CUDA_HOME";

  private CudaCompilers() {}

  /**
   * NVRTC if it is installed, else nvcc, else nothing. Only files are looked for; no library is
   * loaded.
   */
  public static Optional<CudaCompiler> system() {
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
    return Nvrtc.find(NativeLibraries.system());
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
