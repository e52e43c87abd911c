package dev.warpwright.cli.devices;

import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.Nvrtc;

/** The CUDA compiler of this machine, as records name it. */
public final class Toolkit {
  private Toolkit() {}

  /** {@code nvrtc 13.0}, or the name of what compiles instead. */
  public static String version() {
    return CudaCompilers.nvrtc()
        .map((Nvrtc nvrtc) -> "nvrtc " + nvrtc.version())
        .orElseGet(() -> CudaCompilers.require().describe().replaceAll(" .*", ""));
  }
}
