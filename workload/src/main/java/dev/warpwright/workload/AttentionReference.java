package dev.warpwright.workload;

import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.accuracy.SumAccuracy;
import dev.warpwright.ir.type.DType;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Attention in f64 as it is defined, without streaming, and how far an honest result may be off.
 *
 * <p>An element is {@code o = Σ pⱼ·vⱼ} with weights {@code p = softmax(s)}. A weight's relative
 * error is its score's absolute one, of {@code σₛ} as of any sum of products, and that of the power
 * of two; the sum of the weights has those too, so that what counts is {@code vⱼ - o}. Kernels
 * round weights to the operands' type, whose unit roundoff is u, and sum up weighted values:
 *
 * <pre>{@code σ² = Σ pⱼ²·((vⱼ - o)²·σₛⱼ² + vⱼ²·u²/3) + σ_sum²}</pre>
 *
 * @param values row-major, in the order of O
 * @param deviations of each element before it is rounded
 */
public record AttentionReference(double[] values, double[] deviations) {
  /** Rows that a core takes at a time. */
  private static final int ROWS = 32;

  /** Of f32: a factor, a difference and a power of two round a score. */
  private static final double UNIT = 0x1p-24;

  private static final double ROUNDINGS = 3;

  /** Of a power of two by {@code ex2.approx}, and what it is taken of being rounded. */
  private static final double POWER = 0x1p-22;

  /**
   * Computes attention by its definition, in double precision.
   *
   * @param cache where keys and values are
   * @param q elements of Q, row-major, and so on
   * @param k elements of K, row-major
   * @param v elements of V, row-major
   * @return values and how far a kernel's may be off
   */
  public static AttentionReference of(AttentionCache cache, double[] q, double[] k, double[] v) {
    Attention attention = cache.attention();
    int rows = attention.rows();
    double[] values = new double[attention.heads() * rows * attention.headSize()];
    double[] deviations = new double[values.length];
    int each = Math.min(rows, ROWS);
    int tasks = Math.ceilDiv(rows, each);
    IntStream.range(0, attention.heads() * tasks)
        .parallel()
        .forEach(
            task -> {
              Row row = new Row(cache, q, k, v);
              int head = task / tasks;
              int length = cache.lengths()[head / attention.kvHeads()];
              int first = task % tasks * each;
              for (int r = first; r < Math.min(rows, first + each); r++) {
                int seen = length;
                if (attention.causal()) {
                  int token = r % attention.tokens();
                  seen = Math.clamp(length - attention.tokens() + token + 1L, 0, length);
                }
                row.compute(head, r, seen, values, deviations);
              }
            });
    return new AttentionReference(values, deviations);
  }

  /**
   * How far a result is off, in what an honest one may be.
   *
   * @param result row-major, in the order of the values
   * @param type that it was rounded to
   * @return the greatest of all elements and of groups of them
   */
  public Deviations deviations(double[] result, DType type) {
    return Deviations.of(
        ErrorBound.of(type),
        i -> result[i],
        i -> values[i],
        i -> deviations[i],
        result.length,
        0,
        false);
  }

  /**
   * The output projection of what was attended, with what is added to it: {@code X + O · Wᵀ}, a row
   * for each token of an entry, of its heads beside each other. Kernels round O to its type.
   *
   * @param attention whose values these are
   * @param w elements of W, row-major, as many rows as there are features
   * @param x what is added, row-major
   * @return values and how far a kernel's may be off
   */
  public AttentionReference projected(Attention attention, double[] w, double[] x) {
    int inner = attention.queryHeads() * attention.headSize();
    int features = w.length / inner;
    int rows = attention.batch() * attention.tokens();
    double unit = ErrorBound.of(attention.type()).unit();
    double ofSum = attention.precision().accuracy().deviation(inner);
    double[] projected = new double[rows * features];
    double[] off = new double[projected.length];
    IntStream.range(0, rows)
        .forEach(
            row -> {
              double[] o = new double[inner];
              double[] variances = new double[inner];
              for (int k = 0; k < inner; k++) {
                int at = place(attention, row, k);
                double rounded = unit * values[at];
                o[k] = values[at];
                variances[k] = deviations[at] * deviations[at] + rounded * rounded / 3;
              }
              IntStream.range(0, features)
                  .parallel()
                  .forEach(
                      n -> {
                        double sum = 0;
                        double squares = 0;
                        double variance = 0;
                        for (int k = 0; k < inner; k++) {
                          double weight = w[n * inner + k];
                          double product = o[k] * weight;
                          sum += product;
                          squares += product * product;
                          variance += weight * weight * variances[k];
                        }
                        double summed = ofSum * SumAccuracy.scale(sum, squares);
                        projected[row * features + n] = x[row * features + n] + sum;
                        off[row * features + n] = Math.sqrt(variance + summed * summed);
                      });
            });
    return new AttentionReference(projected, off);
  }

  /** Where column {@code k} of a token's heads beside each other is in O. */
  private static int place(Attention attention, int row, int k) {
    int tokens = attention.tokens();
    int head = k / attention.headSize();
    int slab = row / tokens * attention.kvHeads() + head / attention.group();
    int inSlab = head % attention.group() * tokens + row % tokens;
    return (slab * attention.rows() + inSlab) * attention.headSize() + k % attention.headSize();
  }

  /** One row at a time. */
  private static final class Row {
    private final AttentionCache cache;
    private final Attention attention;
    private final double[] q;
    private final double[] k;
    private final double[] v;
    private final double[] scores;
    private final double[] errors;
    private final int[] places;
    private final double[] sums;
    private final double[] squared;
    private final double[] variances;
    private final double ofScore;
    private final double ofSum;
    private final double unit;

    Row(AttentionCache cache, double[] q, double[] k, double[] v) {
      this.cache = cache;
      this.attention = cache.attention();
      this.q = q;
      this.k = k;
      this.v = v;
      scores = new double[attention.keys()];
      errors = new double[attention.keys()];
      places = new int[attention.keys()];
      sums = new double[attention.headSize()];
      squared = new double[attention.headSize()];
      variances = new double[attention.headSize()];
      SumAccuracy sums = attention.precision().accuracy();
      ofScore = sums.deviation(attention.headSize());
      ofSum = sums.deviation(attention.keys());
      unit = ErrorBound.of(attention.type()).unit();
    }

    void compute(int head, int row, int seen, double[] values, double[] deviations) {
      int d = attention.headSize();
      int at = (head * attention.rows() + row) * d;
      double top = Double.NEGATIVE_INFINITY;
      for (int key = 0; key < seen; key++) {
        places[key] = cache.row(head, key) * d;
        double sum = 0;
        double squares = 0;
        for (int c = 0; c < d; c++) {
          double product = q[at + c] * k[places[key] + c];
          sum += product;
          squares += product * product;
        }
        scores[key] = attention.scale() * sum;
        errors[key] =
            attention.scale() * ofScore * SumAccuracy.scale(sum, squares)
                + ROUNDINGS * UNIT * Math.abs(scores[key])
                + POWER;
        top = Math.max(top, scores[key]);
      }
      double all = 0;
      for (int key = 0; key < seen; key++) {
        scores[key] = Math.exp(scores[key] - top);
        all += scores[key];
      }
      Arrays.fill(sums, 0);
      Arrays.fill(squared, 0);
      Arrays.fill(variances, 0);
      for (int key = 0; key < seen; key++) {
        double weight = scores[key] / all;
        for (int c = 0; c < d; c++) {
          double product = weight * v[places[key] + c];
          sums[c] += product;
          squared[c] += product * product;
        }
      }
      for (int key = 0; key < seen; key++) {
        double weight = scores[key] / all;
        for (int c = 0; c < d; c++) {
          double value = v[places[key] + c];
          double moved = weight * (value - sums[c]) * errors[key];
          double rounded = weight * value * unit;
          variances[c] += moved * moved + rounded * rounded / 3;
        }
      }
      for (int c = 0; c < d; c++) {
        double summed = ofSum * SumAccuracy.scale(sums[c], squared[c]);
        values[at + c] = sums[c];
        deviations[at + c] = Math.sqrt(variances[c] + summed * summed);
      }
    }
  }
}
