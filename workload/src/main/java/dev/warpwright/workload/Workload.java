package dev.warpwright.workload;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.accuracy.SumAccuracy;
import dev.warpwright.ir.type.DType;
import java.util.List;

/**
 * What is computed, whatever computes it: its shape and numbers, not where its matrices lie. Sums
 * are at least as precise as f32, unless the precision says f16; a result is rounded once.
 */
public sealed interface Workload permits GemmWorkload, FfnWorkload, Attention {
  /** How many deviations of its elements a whole result may be off, in the root of the mean. */
  double WHOLE = 1.25;

  /** {@return the name in attributes and records, as {@code gemm_nt}} */
  String kind();

  /** {@return kind, shape and type in one line: {@code gemm_nt M=4096 N=4096 K=4096 bf16}} */
  String text();

  /** {@return what products are computed in} */
  Precision precision();

  /** {@return types of what is written, the result last} */
  List<DType> results();

  /** {@return operations of the products, a multiply-add counting as two} */
  double flops();

  /** {@return the computation} */
  PrimFunc func();

  /**
   * {@return what may be added to the elements of a product, counted in the workload's order}
   *
   * @param product 0 for the first
   */
  GemmDeviation deviation(int product);

  /**
   * {@return the greatest relative error that counts as right: the contract's for the coarser of
   * the type of the result and what operands are rounded to (they are made in their own type: of
   * f32 only for tf32), or, of accumulators that are not plain f32 or f64, what sums of so many
   * products are off by where that is more}
   */
  default double tolerance() {
    double tolerance = precision() == Precision.TF32 ? Precision.TF32.tolerance() : 0;
    for (DType result : results()) {
      tolerance = Math.max(tolerance, result == DType.I32 ? 0 : Precision.of(result).tolerance());
    }
    SumAccuracy sums = precision().accuracy();
    boolean plain = sums.equals(SumAccuracy.OF_F32) || sums.equals(SumAccuracy.OF_F64);
    for (int product = 0; product < results().size() && !plain; product++) {
      tolerance = Math.max(tolerance, WHOLE * deviation(product).relative());
    }
    return tolerance;
  }
}
