package dev.warpwright.perf;

/**
 * What a job takes at least on a device, whatever the kernel: its operations over the rate of the
 * units that do them, or the bytes that it must move over the bandwidth of the memory, whichever is
 * longer.
 *
 * @param micros not a number if it is not known
 * @param by which of them
 */
public record RooflineBound(double micros, By by) {
  /** What decides. */
  public enum By {
    OPERATIONS("operations"),
    BYTES("bytes"),
    /** Nothing is known of the job or the device. */
    UNKNOWN("unknown");

    private final String text;

    By(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }

  /** Of a job or a device of which nothing is known. */
  public static final RooflineBound UNKNOWN = new RooflineBound(Double.NaN, By.UNKNOWN);

  /**
   * Of a job.
   *
   * @param flops operations, a multiply-add counting as two
   * @param flopsPerSecond infinite if the rate is not known
   * @param bytesPerSecond infinite if the bandwidth is not known
   */
  public static RooflineBound of(
      double flops, double flopsPerSecond, double bytes, double bytesPerSecond) {
    double operations = 1e6 * flops / flopsPerSecond;
    double moving = 1e6 * bytes / bytesPerSecond;
    return moving >= operations
        ? new RooflineBound(moving, By.BYTES)
        : new RooflineBound(operations, By.OPERATIONS);
  }

  public boolean isKnown() {
    return by != By.UNKNOWN;
  }
}
