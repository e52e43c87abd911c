package dev.warpwright.compiler.fusion;

import java.util.Locale;

/**
 * What a network is expected to take as one kernel and with a GEMM for each layer.
 *
 * @param oneKernel microseconds of the whole network as one kernel, by the fastest rule that makes
 *     it
 * @param layers microseconds with a GEMM for each layer
 */
public record FusionTimes(double oneKernel, double layers) {
  /** How much faster layers must be: they are for one number of rows, and each is launched. */
  static final double WORTH = 0.9;

  /** How much slower layers may be expected to be for a measurement to be worth its time. */
  private static final double PLAUSIBLE = 2;

  /** Whether a GEMM for each layer is expected to be faster. */
  public boolean areLayersFaster() {
    return layers < WORTH * oneKernel;
  }

  /** Whether a GEMM for each layer might turn out to be faster. */
  public boolean mightLayersBeFaster() {
    return layers < PLAUSIBLE * oneKernel;
  }

  /** Why layers are apart or not, for reports. */
  public String text() {
    return String.format(
        Locale.ROOT,
        "a GEMM for each layer is expected to take %.1f us, one kernel %.1f us",
        layers,
        oneKernel);
  }
}
