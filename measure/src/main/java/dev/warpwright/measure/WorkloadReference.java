package dev.warpwright.measure;

import dev.warpwright.ir.Buffer;
import dev.warpwright.sim.NdArray;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * What a workload makes of its inputs, by plain loops in Java and in f64: for small shapes, and
 * independent of everything that makes or executes kernels.
 */
public final class WorkloadReference {
  private WorkloadReference() {}

  /**
   * The outputs in the workload's order, row-major and in f64; those that another product starts
   * from are rounded to their buffer's type.
   *
   * @param arrays of the inputs and of the table of grouped products
   */
  public static List<double[]> outputs(BoundWorkload workload, Function<Buffer, NdArray> arrays) {
    return switch (workload) {
      case BoundWorkload.Gemm gemm -> List.of(gemm(gemm, arrays));
      case BoundWorkload.Ffn ffn -> {
        int m = Math.toIntExact(ffn.m());
        int k = Math.toIntExact(ffn.k());
        int hidden = Math.toIntExact(ffn.hidden());
        int n = Math.toIntExact(ffn.n());
        double[] h =
            product(
                arrays.apply(ffn.x()).toDoubles(),
                arrays.apply(ffn.w1()).toDoubles(),
                m,
                hidden,
                k);
        NdArray rounded = NdArray.zeros(ffn.h().dtype(), m, hidden);
        for (int i = 0; i < h.length; i++) {
          rounded.setElement(i, Activation.GELU.at(h[i]));
        }
        double[] between = rounded.toDoubles();
        yield List.of(between, product(between, arrays.apply(ffn.w2()).toDoubles(), m, n, hidden));
      }
    };
  }

  private static double[] gemm(BoundWorkload.Gemm gemm, Function<Buffer, NdArray> arrays) {
    int m = Math.toIntExact(gemm.m());
    int n = Math.toIntExact(gemm.n());
    int k = Math.toIntExact(gemm.k());
    int batch = Math.toIntExact(gemm.batch().count());
    double[] result = new double[batch * m * n];
    double[] a = k == 0 ? new double[0] : arrays.apply(gemm.a()).toDoubles();
    double[] b = k == 0 ? new double[0] : arrays.apply(gemm.b()).toDoubles();
    for (int p = 0; p < batch; p++) {
      int group = gemm.group() == null ? p : (int) arrays.apply(gemm.group()).integerElement(p);
      double[] rows = part(a, gemm.a().rank() == 2 ? 0 : p, m, k, gemm.layout().transposedA());
      double[] columns =
          part(b, gemm.b().rank() == 2 ? 0 : group, n, k, !gemm.layout().transposedB());
      System.arraycopy(product(rows, columns, m, n, k), 0, result, p * m * n, m * n);
    }
    if (!gemm.epilogue().equals(Epilogue.NONE)) {
      finish(gemm, arrays, result, m, n);
    }
    return result;
  }

  /** One of several matrices of so many rows of k elements; it may be stored across. */
  private static double[] part(double[] all, int index, int rows, int k, boolean across) {
    double[] part = new double[rows * k];
    if (k == 0) {
      return part;
    }
    int first = index * rows * k;
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < k; j++) {
        part[i * k + j] = all[first + (across ? j * rows + i : i * k + j)];
      }
    }
    return part;
  }

  /** Rows times rows. */
  private static double[] product(double[] a, double[] w, int m, int n, int k) {
    double[] result = new double[m * n];
    IntStream.range(0, m)
        .parallel()
        .forEach(
            i -> {
              for (int j = 0; j < n; j++) {
                result[i * n + j] = dot(a, i * k, w, j * k, k);
              }
            });
    return result;
  }

  private static double dot(double[] a, int at, double[] w, int from, int k) {
    double even = 0;
    double odd = 0;
    int s = 0;
    for (; s + 1 < k; s += 2) {
      even += a[at + s] * w[from + s];
      odd += a[at + s + 1] * w[from + s + 1];
    }
    return even + odd + (s < k ? a[at + s] * w[from + s] : 0);
  }

  private static void finish(
      BoundWorkload.Gemm gemm, Function<Buffer, NdArray> arrays, double[] sums, int m, int n) {
    Map<Epilogue.Operand, NdArray> extras = new EnumMap<>(Epilogue.Operand.class);
    List<Epilogue.Operand> operands = new ArrayList<>(gemm.epilogue().operands());
    for (int i = 0; i < operands.size(); i++) {
      extras.put(operands.get(i), arrays.apply(gemm.extras().get(i)));
    }
    for (int at = 0; at < sums.length; at++) {
      int row = at / n % m;
      int column = at % n;
      int position = at;
      Map<Epilogue.Operand, Double> values = new EnumMap<>(Epilogue.Operand.class);
      extras.forEach(
          (operand, array) ->
              values.put(
                  operand,
                  array.element(
                      switch (operand) {
                        case ROW_SCALE -> row;
                        case COLUMN_SCALE, BIAS -> column;
                        case ADDEND, GATE, RESIDUAL -> position;
                      })));
      sums[at] = HostReference.epilogue(gemm.epilogue(), sums[at], values);
    }
  }
}
