package dev.warpwright.perf.predict;

import dev.warpwright.base.UserError;
import dev.warpwright.workload.Precision;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A part of a workload: what it computes and what it has to move at least.
 *
 * @param times how often it occurs
 * @param flops of one occurrence
 * @param bytes of one occurrence: inputs and outputs, each once
 * @param l2Bytes that SMs read from and write to L2, tiled as usual kernels are; of a product it
 *     depends on its tiles, so it is 0 here
 * @param gemm the product that it is, if it is one
 * @param vanishes whether it is there only as long as its neighbours are not fused
 */
public record Part(
    String name,
    long times,
    double flops,
    double bytes,
    double l2Bytes,
    @Nullable GemmShape gemm,
    boolean vanishes) {
  /** A product D = A · B of M × K and K × N. */
  public record GemmShape(long m, long n, long k, Precision type) {
    private static final long MOST = 1L << 31;

    public GemmShape {
      for (long extent : new long[] {m, n, k}) {
        if (extent < 1 || extent > MOST) {
          throw new UserError(
              String.format(
                  Locale.ROOT, "M=%d N=%d K=%d: each must be between 1 and %d", m, n, k, MOST));
        }
      }
    }

    /** Two for each multiply-add. */
    public double flops() {
      return 2.0 * m * n * k;
    }

    /** Each operand and the result once. */
    public double leastBytes() {
      return operandBytes() + resultBytes();
    }

    /** Both operands once. */
    public double operandBytes() {
      return ((double) m * k + (double) k * n) * type.operand().bytes();
    }

    /** The result once. */
    public double resultBytes() {
      return (double) m * n * type.resultBytes();
    }

    /** As {@code 16 x 14336 x 4096}. */
    public String text() {
      return m + " x " + n + " x " + k;
    }
  }

  /** A product. */
  public static Part gemm(String name, long times, long m, long n, long k, Precision type) {
    var shape = new GemmShape(m, n, k, type);
    return new Part(name, times, shape.flops(), shape.leastBytes(), 0, shape, false);
  }

  /** Operations for each byte. */
  public double intensity() {
    return flops / bytes;
  }
}
