package dev.warpwright.measure.reference;

import dev.warpwright.ir.Buffer;
import dev.warpwright.sim.NdArray;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmDeviation;
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
   * An output, row-major and in f64.
   *
   * @param values rounded to the buffer's type where another product starts from them
   * @param deviations of each: {@link GemmDeviation}
   */
  public record Output(double[] values, double[] deviations) {}

  /**
   * The outputs in the workload's order.
   *
   * @param arrays of the inputs and of the table of grouped products
   */
  public static List<Output> outputs(BoundWorkload workload, Function<Buffer, NdArray> arrays) {
    return switch (workload) {
      case BoundWorkload.Gemm gemm -> List.of(gemm(gemm, arrays));
      case BoundWorkload.Ffn ffn -> {
        int m = Math.toIntExact(ffn.m());
        int k = Math.toIntExact(ffn.k());
        int hidden = Math.toIntExact(ffn.hidden());
        int n = Math.toIntExact(ffn.n());
        Sums h =
            product(
                arrays.apply(ffn.x()).toDoubles(),
                arrays.apply(ffn.w1()).toDoubles(),
                m,
                hidden,
                k);
        NdArray rounded = NdArray.zeros(ffn.h().dtype(), m, hidden);
        for (int i = 0; i < h.sums.length; i++) {
          rounded.setElement(i, Activation.GELU.at(h.sums[i]));
        }
        double[] between = rounded.toDoubles();
        Sums y = product(between, arrays.apply(ffn.w2()).toDoubles(), m, n, hidden);
        yield List.of(
            new Output(between, h.deviations(ffn.deviation(0))),
            new Output(y.sums, y.deviations(ffn.deviation(1))));
      }
    };
  }

  /** Sums of products, and of the products' squares. */
  private record Sums(double[] sums, double[] squares) {
    Sums(int size) {
      this(new double[size], new double[size]);
    }

    /** Of an epilogue that reads no operands. */
    double[] deviations(GemmDeviation deviation) {
      return IntStream.range(0, sums.length)
          .mapToDouble(i -> deviation.of(sums[i], squares[i], Map.of()))
          .toArray();
    }
  }

  private static Output gemm(BoundWorkload.Gemm gemm, Function<Buffer, NdArray> arrays) {
    int m = Math.toIntExact(gemm.m());
    int n = Math.toIntExact(gemm.n());
    int k = Math.toIntExact(gemm.k());
    int batch = Math.toIntExact(gemm.batch().count());
    Sums result = new Sums(batch * m * n);
    double[] a = k == 0 ? new double[0] : arrays.apply(gemm.a()).toDoubles();
    double[] b = k == 0 ? new double[0] : arrays.apply(gemm.b()).toDoubles();
    for (int p = 0; p < batch; p++) {
      int group = gemm.group() == null ? p : (int) arrays.apply(gemm.group()).integerElement(p);
      double[] rows = part(a, gemm.a().rank() == 2 ? 0 : p, m, k, gemm.layout().transposedA());
      if (gemm.epilogue().isNormed()) {
        norm(rows, k, gemm.epilogue().norm());
      }
      double[] columns =
          part(b, gemm.b().rank() == 2 ? 0 : group, n, k, !gemm.layout().transposedB());
      Sums part = product(rows, columns, m, n, k);
      System.arraycopy(part.sums, 0, result.sums, p * m * n, m * n);
      System.arraycopy(part.squares, 0, result.squares, p * m * n, m * n);
    }
    return gemm.epilogue().equals(Epilogue.NONE)
        ? new Output(result.sums, result.deviations(gemm.deviation(0)))
        : finish(gemm, arrays, result, m, n);
  }

  /** Divides rows of k elements by the roots of their mean squares. */
  private static void norm(double[] rows, int k, double epsilon) {
    for (int first = 0; first < rows.length; first += k) {
      double squares = 0;
      for (int i = first; i < first + k; i++) {
        squares += rows[i] * rows[i];
      }
      double root = Math.sqrt(squares / k + epsilon);
      for (int i = first; i < first + k; i++) {
        rows[i] /= root;
      }
    }
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
  private static Sums product(double[] a, double[] w, int m, int n, int k) {
    Sums result = new Sums(m * n);
    IntStream.range(0, m)
        .parallel()
        .forEach(
            i -> {
              for (int j = 0; j < n; j++) {
                dot(a, i * k, w, j * k, k, result, i * n + j);
              }
            });
    return result;
  }

  private static void dot(double[] a, int at, double[] w, int from, int k, Sums into, int place) {
    double sum = 0;
    double squares = 0;
    for (int s = 0; s < k; s++) {
      double product = a[at + s] * w[from + s];
      sum += product;
      squares += product * product;
    }
    into.sums[place] = sum;
    into.squares[place] = squares;
  }

  private static Output finish(
      BoundWorkload.Gemm gemm, Function<Buffer, NdArray> arrays, Sums sums, int m, int n) {
    int columns = Math.toIntExact(gemm.workload().resultColumns());
    double[] results = new double[sums.sums.length / n * columns];
    double[] deviations = new double[results.length];
    Map<Epilogue.Operand, NdArray> extras = new EnumMap<>(Epilogue.Operand.class);
    List<Epilogue.Operand> operands = new ArrayList<>(gemm.epilogue().operands());
    for (int i = 0; i < operands.size(); i++) {
      extras.put(operands.get(i), arrays.apply(gemm.extras().get(i)));
    }
    for (int at = 0; at < results.length; at++) {
      int row = at / columns;
      int position = at;
      FinishedElement element =
          FinishedElement.of(
              gemm.deviation(0),
              at % columns,
              j -> {
                int place = row * n + (int) j;
                return new HostReference.Sums(sums.sums[place], sums.squares[place]);
              },
              j -> values(extras, row % m, (int) j, position));
      results[at] = element.value();
      deviations[at] = element.deviation();
    }
    return new Output(results, deviations);
  }

  /** What an epilogue reads for a column of the product and an element of the result. */
  private static Map<Epilogue.Operand, Double> values(
      Map<Epilogue.Operand, NdArray> extras, int row, int column, int position) {
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
    return values;
  }
}
