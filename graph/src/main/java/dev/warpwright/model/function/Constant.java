package dev.warpwright.model.function;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.graph.ConstantTensor;

/**
 * A constant parameter of a network's function and where its elements come from. Elements past the
 * source's extents are zero.
 *
 * @param buffer rank 1 for a vector, 2 for a weight
 * @param source [N] or [N, K]
 * @param transposed whether the buffer holds the weight as [K, N] instead of [N, K]
 */
public record Constant(Buffer buffer, ConstantTensor source, boolean transposed) {
  /** The same, rounded to tf32. */
  public Constant tf32() {
    return new Constant(buffer, source.tf32(), transposed);
  }

  /** The element at the buffer's coordinates. */
  public double element(long... at) {
    if (source.rank() == 1) {
      return at[0] < source.shape().getFirst() ? source.doubleAt(at[0]) : 0;
    }
    long n = transposed ? at[1] : at[0];
    long k = transposed ? at[0] : at[1];
    long rows = source.shape().get(0);
    long cols = source.shape().get(1);
    return n < rows && k < cols ? source.doubleAt(n * cols + k) : 0;
  }
}
