package dev.warpwright.ir.accuracy;

/**
 * How precisely sums of products are computed. Error models of tensor cores are those that were
 * measured: a group of products and the accumulator are aligned to the greatest exponent, cut off
 * some bits below it, summed exactly, and the sum is rounded or truncated to the accumulator. Where
 * generations differ the coarser one counts.
 *
 * @param unit unit roundoff of a step that rounds to nearest; 0 if no step does
 * @param group products that are added in one such step
 * @param truncation mean of what a step cuts off, relative to the sum; 0 if none does
 * @param truncated products that are truncated at a time
 * @param product what is cut off a product, relative to the sum, in the root of its mean square
 * @param operand what rounding an operand changes it by at most, relative to it; 0 if it is read as
 *     it is
 */
public record SumAccuracy(
    double unit, int group, double truncation, int truncated, double product, double operand) {
  private static final double F32 = 0x1p-24;
  private static final double F64 = 0x1p-53;

  /** Without any error, as of integers. */
  public static final SumAccuracy EXACT = new SumAccuracy(0, 1, 0, 1, 0, 0);

  /** A chain of multiply-adds in f64. */
  public static final SumAccuracy OF_F64 = new SumAccuracy(F64, 1, 0, 1, 0, 0);

  /** A chain of multiply-adds in f32, in any order. */
  public static final SumAccuracy OF_F32 = new SumAccuracy(F32, 1, 0, 1, 0, 0);

  /**
   * f32 accumulators of tensor cores, f16 or bf16 operands: 8 products a group (Ampere; 16 on
   * Hopper), aligned with 24 bits and truncated to f32; or threads.
   */
  public static final SumAccuracy OF_TENSOR = new SumAccuracy(F32, 1, 0.75 * 0x1p-23, 8, 0, 0);

  /**
   * f32 operands rounded to tf32 or, where hardware ignores their low bits, truncated; 4 products a
   * group (Ampere; 8 on Hopper).
   */
  public static final SumAccuracy OF_TF32 = new SumAccuracy(F32, 1, 0.75 * 0x1p-23, 4, 0, 0x1p-10);

  /** f16 accumulators: the sum is rounded to f16 behind each group of 8 (Hopper: 16). */
  public static final SumAccuracy OF_F16 = new SumAccuracy(0x1p-11, 8, 0, 1, 0, 0);

  /**
   * 8-bit floats: products are aligned with 13 bits, those below the sum's last bit are lost. Their
   * signs are random, but on the whole they are the sum's: counted twice.
   */
  public static final SumAccuracy OF_F8 =
      new SumAccuracy(F32, 1, 0, 1, 2 / Math.sqrt(3) * 0x1p-13, 0);

  /**
   * {@return the same for operands that are rounded to a type on the way}
   *
   * @param operandUnit that type's unit roundoff
   */
  public SumAccuracy ofRounded(double operandUnit) {
    return new SumAccuracy(
        unit, group, truncation, truncated, product, Math.max(operand, operandUnit));
  }

  /**
   * {@return relative standard deviation c of a sum of so many products, in units of {@link
   * #scale}}
   *
   * @param products at least 1
   */
  public double deviation(long products) {
    double steps = Math.ceilDiv(products, group);
    double bias = truncation * Math.ceilDiv(products, truncated);
    return Math.sqrt(
        steps * unit * unit / 3
            + bias * bias / 2
            + products * product * product
            // Of both operands of each product, a uniform error.
            + 4.0 / 3 * operand * operand);
  }

  /**
   * {@return what a relative deviation refers to: √((Q + T²) / 2)}
   *
   * @param sum T
   * @param squares Q, the sum of the products' squares
   */
  public static double scale(double sum, double squares) {
    return Math.sqrt((squares + sum * sum) / 2);
  }
}
