package dev.warpwright.cuda.compile;

import java.util.List;
import java.util.regex.Pattern;

/**
 * What to compile.
 *
 * @param source CUDA C++ that includes no header
 * @param arch the real architecture, for example {@code sm_90a}
 * @param options further options that NVRTC and nvcc both know, for example {@code -lineinfo}
 */
public record CompileRequest(String source, String arch, List<String> options) {
  private static final Pattern ARCH = Pattern.compile("sm_\\d{2,3}[af]?");

  public CompileRequest {
    if (!ARCH.matcher(arch).matches()) {
      throw new IllegalArgumentException(
          "architecture '" + arch + "' is not of the form sm_80 or sm_90a");
    }
    options = List.copyOf(options);
  }

  public CompileRequest(String source, String arch) {
    this(source, arch, List.of());
  }

  /** The virtual architecture that belongs to {@link #arch}: {@code compute_90a}. */
  String virtualArch() {
    return "compute_" + arch.substring("sm_".length());
  }
}
