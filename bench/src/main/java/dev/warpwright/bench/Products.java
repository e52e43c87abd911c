package dev.warpwright.bench;

import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Data and references: products in double precision, by plain loops over rows on all cores. */
final class Products {
  private Products() {}

  /** Normally distributed numbers around 0. */
  static float[] random(int count, double deviation, long seed) {
    float[] values = new float[count];
    int chunk = 1 << 16;
    IntStream.range(0, Math.ceilDiv(count, chunk))
        .parallel()
        .forEach(
            c -> {
              SplittableRandom random = new SplittableRandom(seed * 1_000_003 + c);
              for (int i = c * chunk; i < Math.min(count, (c + 1) * chunk); i++) {
                values[i] = (float) (random.nextGaussian() * deviation);
              }
            });
    return values;
  }

  /** {@code A[m, k] · B[k, n]}. */
  static double[] product(double[] a, float[] b, int m, int n, int k) {
    double[] c = new double[m * n];
    IntStream.range(0, m)
        .parallel()
        .forEach(
            i -> {
              double[] row = new double[n];
              for (int p = 0; p < k; p++) {
                addScaled(row, a[i * k + p], b, p * n);
              }
              System.arraycopy(row, 0, c, i * n, n);
            });
    return c;
  }

  private static void addScaled(double[] row, double factor, float[] b, int offset) {
    for (int j = 0; j < row.length; j++) {
      row[j] += factor * b[offset + j];
    }
  }

  /** {@code A[m, k] · W[n, k]ᵀ + bias}, with ReLU if asked for. */
  static double[] linear(double[] a, float[] w, float[] bias, int m, int n, int k, boolean relu) {
    double[] c = new double[m * n];
    IntStream.range(0, n)
        .parallel()
        .forEach(
            j -> {
              double[] weights = new double[k];
              for (int p = 0; p < k; p++) {
                weights[p] = w[j * k + p];
              }
              for (int i = 0; i < m; i++) {
                double sum = bias[j] + dot(a, i * k, weights);
                c[i * n + j] = relu ? Math.max(sum, 0) : sum;
              }
            });
    return c;
  }

  private static double dot(double[] a, int offset, double[] b) {
    double s0 = 0;
    double s1 = 0;
    double s2 = 0;
    double s3 = 0;
    int p = 0;
    for (; p + 4 <= b.length; p += 4) {
      s0 += a[offset + p] * b[p];
      s1 += a[offset + p + 1] * b[p + 1];
      s2 += a[offset + p + 2] * b[p + 2];
      s3 += a[offset + p + 3] * b[p + 3];
    }
    for (; p < b.length; p++) {
      s0 += a[offset + p] * b[p];
    }
    return s0 + s1 + s2 + s3;
  }

  static double[] widened(float[] values) {
    double[] result = new double[values.length];
    for (int i = 0; i < result.length; i++) {
      result[i] = values[i];
    }
    return result;
  }
}
