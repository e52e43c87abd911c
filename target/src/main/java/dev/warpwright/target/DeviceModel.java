package dev.warpwright.target;

/**
 * A device as its maker describes it. Rates are dense, in 10¹² operations a second, a fused
 * multiply-add counting as two; 0 where the device has no such instruction.
 *
 * @param name what the catalogue calls it
 * @param driverName text that the driver's name of the device contains, in lower case
 * @param target the architecture
 * @param sms streaming multiprocessors
 * @param boostMhz the clock for which the rates are stated; the driver's maximum may be higher
 * @param fp32Tflops CUDA cores on f32
 * @param tf32Tflops tensor cores on tf32
 * @param f16Tflops tensor cores on f16, accumulating in f32
 * @param bf16Tflops tensor cores on bf16
 * @param fp8Tflops tensor cores on 8-bit floats, accumulating in f32
 * @param int8Tops tensor cores on 8-bit integers
 * @param dramGB device memory, 10⁹ bytes
 * @param dramGBs device memory, 10⁹ bytes a second
 * @param l2MiB L2, MiB
 * @param source where the figures are stated
 */
public record DeviceModel(
    String name,
    String driverName,
    GpuTarget target,
    int sms,
    int boostMhz,
    double fp32Tflops,
    double tf32Tflops,
    double f16Tflops,
    double bf16Tflops,
    double fp8Tflops,
    double int8Tops,
    int dramGB,
    int dramGBs,
    double l2MiB,
    String source) {
  /** {@return bytes of L2} */
  public long l2Bytes() {
    return (long) (l2MiB * (1 << 20));
  }

  /**
   * {@return whether kernels are generated for it; if not, it is known for analyses and
   * predictions}
   */
  public boolean hasCode() {
    return GpuTarget.ALL.contains(target);
  }
}
