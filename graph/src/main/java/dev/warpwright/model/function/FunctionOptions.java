package dev.warpwright.model.function;

import dev.warpwright.workload.Precision;
import dev.warpwright.workload.tensor.Approximations;

/**
 * How a network becomes a function.
 *
 * @param precision of the products
 * @param granule intermediates have a multiple of so many columns
 * @param transposedWeights whether weights are stored as [K, N] (for fma) or [N, K] (for matrix
 *     instructions); products that must be exact always use [K, N]
 * @param f32Activations whether activations stay f32 between products even where weights are
 *     narrower
 * @param inRegisters whether rows stay in registers from product to product: those of inputs with
 *     few features are formulas of their elements, which need no operand in shared memory, and what
 *     rows are reduced to comes of values in f32, which whoever reads them next finds there
 * @param approximate whether functions may be as far off as {@link Approximations} says
 * @param byLayer whether each product is a launch of its own, so that its results are in memory
 *     anyway: what several read of them is stored once, in the type of activations, inputs are read
 *     where they lie, and other columns are formulas, without a copy
 */
public record FunctionOptions(
    Precision precision,
    int granule,
    boolean transposedWeights,
    boolean f32Activations,
    boolean inRegisters,
    boolean approximate,
    boolean byLayer) {
  /** With products as products, and functions as exact as f32. */
  public FunctionOptions(
      Precision precision, int granule, boolean transposedWeights, boolean f32Activations) {
    this(precision, granule, transposedWeights, f32Activations, false, false, false);
  }

  /** The same for products that are launches of their own. */
  public FunctionOptions ofLayers() {
    return new FunctionOptions(
        precision, granule, transposedWeights, f32Activations, inRegisters, approximate, true);
  }
}
