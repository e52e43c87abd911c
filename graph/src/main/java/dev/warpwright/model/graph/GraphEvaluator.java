package dev.warpwright.model.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The meaning of a graph in double precision: constants are widened exactly, and no intermediate is
 * rounded to the type of its value. It is the reference that compiled kernels are checked against,
 * and shares no code with them.
 */
public final class GraphEvaluator {
  private final Rounding rounding;

  /** Columns of a layer that a core takes at a time. */
  private static final int COLUMNS = 64;

  private GraphEvaluator(Rounding rounding) {
    this.rounding = rounding;
  }

  /** Something that is done to values where a kernel would round them. */
  public interface Rounding {
    /** Leaves all as it is. */
    Rounding NONE =
        new Rounding() {
          @Override
          public double[] operand(Linear linear, double[] values) {
            return values;
          }

          @Override
          public double sum(Linear linear, double sum, double squares) {
            return sum;
          }

          @Override
          public double[] result(Node node, double[] values, Reads reads) {
            return values;
          }
        };

    /**
     * {@return the input of a product, as it is multiplied}
     *
     * @param linear the product
     * @param values row-major, [rows, K]; may be changed and returned
     */
    double[] operand(Linear linear, double[] values);

    /**
     * {@return a sum of products, whose squares have that sum}
     *
     * @param linear the product
     * @param sum of the products of one row and one feature
     * @param squares the sum of those products' squares
     */
    double sum(Linear linear, double sum, double squares);

    /**
     * {@return what a node makes}
     *
     * @param node of the graph
     * @param values row-major, [rows, features]; may be changed and returned
     * @param reads the values that it read
     */
    double[] result(Node node, double[] values, Reads reads);
  }

  /** Values of a graph. */
  @FunctionalInterface
  public interface Reads {
    /**
     * {@return the numbers of a value, row-major, [rows, features]}
     *
     * @param value one that the node reads
     */
    double[] of(Value value);
  }

  /**
   * Evaluates a graph.
   *
   * @param graph whose meaning is asked for
   * @param rows of each input and output
   * @param inputs one row-major [rows, features] array per graph input, in their order
   * @return one row-major [rows, features] array per graph output, in their order
   * @throws IllegalArgumentException if the number or a length of the inputs does not fit
   */
  public static List<double[]> evaluate(Graph graph, int rows, List<double[]> inputs) {
    return evaluate(graph, rows, inputs, Rounding.NONE);
  }

  /**
   * Evaluates a graph with something done to the values.
   *
   * @param graph whose meaning is asked for
   * @param rows of each input and output
   * @param inputs one row-major [rows, features] array per graph input, in their order
   * @param rounding what is done to values where kernels round them
   * @return one row-major [rows, features] array per graph output, in their order
   * @throws IllegalArgumentException if the number or a length of the inputs does not fit
   */
  public static List<double[]> evaluate(
      Graph graph, int rows, List<double[]> inputs, Rounding rounding) {
    if (inputs.size() != graph.inputs().size()) {
      throw new IllegalArgumentException(
          "the graph has " + graph.inputs().size() + " inputs, not " + inputs.size());
    }
    Map<Value, double[]> values = new IdentityHashMap<>();
    for (int i = 0; i < inputs.size(); i++) {
      Value value = graph.inputs().get(i);
      if (inputs.get(i).length != (long) rows * value.features()) {
        throw new IllegalArgumentException(
            String.format(
                Locale.ROOT,
                "%d rows of %s need %d elements, not %d",
                rows,
                value,
                (long) rows * value.features(),
                inputs.get(i).length));
      }
      values.put(value, inputs.get(i));
    }
    Map<Value, Integer> readsLeft = new HashMap<>();
    graph.nodes().forEach(n -> n.inputs().forEach(v -> readsLeft.merge(v, 1, Integer::sum)));
    graph.outputs().forEach(v -> readsLeft.merge(v, 1, Integer::sum));
    for (Node node : graph.nodes()) {
      double[] result = new GraphEvaluator(rounding).evaluate(node, rows, values);
      values.put(node.output(), rounding.result(node, result, v -> read(values, v)));
      for (Value input : node.inputs()) {
        if (readsLeft.merge(input, -1, Integer::sum) == 0) {
          values.remove(input);
        }
      }
    }
    List<double[]> outputs = new ArrayList<>();
    graph.outputs().forEach(value -> outputs.add(read(values, value)));
    return outputs;
  }

  private double[] evaluate(Node node, int rows, Map<Value, double[]> values) {
    return switch (node) {
      case Linear linear -> linear(linear, rows, read(values, linear.input()));
      case Elementwise elementwise -> elementwise(elementwise, rows, values);
      case LayerNorm norm -> layerNorm(norm, rows, read(values, norm.input()));
      case RowReduce reduce -> rowReduce(reduce, rows, read(values, reduce.input()));
      case Concat concat -> concat(concat, rows, values);
      case Columns columns -> columns(columns, rows, read(values, columns.input()));
      case Attend attend ->
          attend
              .evaluate(
                  rows,
                  read(values, attend.q()),
                  read(values, attend.k()),
                  read(values, attend.v()))
              .values();
    };
  }

  private static double[] read(Map<Value, double[]> values, Value value) {
    return Objects.requireNonNull(values.get(value), "a graph computes values before their use");
  }

  private double[] linear(Linear linear, int rows, double[] values) {
    double[] x = rounding.operand(linear, values);
    int n = linear.output().features();
    double @Nullable [] bias = linear.bias() == null ? null : linear.bias().toDoubles();
    double[] y = new double[Math.multiplyExact(rows, n)];
    // What rounding does may depend on the order in which it is asked.
    double[] squares = new double[rounding == Rounding.NONE ? 0 : y.length];
    sums(linear, rows, x, y, squares);
    for (int i = 0; i < y.length; i++) {
      double sum = squares.length == 0 ? y[i] : rounding.sum(linear, y[i], squares[i]);
      y[i] = bias == null ? sum : sum + bias[i % n];
    }
    return y;
  }

  /**
   * Sums of products, and of their squares unless there is no place for them: several rows at a
   * time, whose sums do not wait for each other, and some columns on each core.
   */
  private static void sums(Linear linear, int rows, double[] x, double[] y, double[] squares) {
    int k = linear.input().features();
    int n = linear.output().features();
    IntStream.range(0, Math.ceilDiv(n, COLUMNS))
        .parallel()
        .forEach(
            block -> {
              double[] weight = new double[k];
              for (int j = block * COLUMNS; j < Math.min(n, (block + 1) * COLUMNS); j++) {
                for (int i = 0; i < k; i++) {
                  weight[i] = linear.weight().doubleAt((long) j * k + i);
                }
                int m = 0;
                for (; m + 4 <= rows; m += 4) {
                  if (squares.length == 0) {
                    fourSums(weight, x, m, y, n, j);
                  } else {
                    fourSums(weight, x, m, y, squares, n, j);
                  }
                }
                for (; m < rows; m++) {
                  double sum = 0;
                  double square = 0;
                  for (int i = 0; i < k; i++) {
                    double product = x[m * k + i] * weight[i];
                    sum += product;
                    square += product * product;
                  }
                  y[m * n + j] = sum;
                  if (squares.length > 0) {
                    squares[m * n + j] = square;
                  }
                }
              }
            });
  }

  private static void fourSums(double[] weight, double[] x, int m, double[] y, int n, int j) {
    int k = weight.length;
    int at0 = m * k;
    int at1 = at0 + k;
    int at2 = at1 + k;
    int at3 = at2 + k;
    double s0 = 0;
    double s1 = 0;
    double s2 = 0;
    double s3 = 0;
    for (int i = 0; i < k; i++) {
      double w = weight[i];
      s0 += x[at0 + i] * w;
      s1 += x[at1 + i] * w;
      s2 += x[at2 + i] * w;
      s3 += x[at3 + i] * w;
    }
    y[m * n + j] = s0;
    y[(m + 1) * n + j] = s1;
    y[(m + 2) * n + j] = s2;
    y[(m + 3) * n + j] = s3;
  }

  private static void fourSums(
      double[] weight, double[] x, int m, double[] y, double[] squares, int n, int j) {
    int k = weight.length;
    int at0 = m * k;
    int at1 = at0 + k;
    int at2 = at1 + k;
    int at3 = at2 + k;
    double s0 = 0;
    double s1 = 0;
    double s2 = 0;
    double s3 = 0;
    double q0 = 0;
    double q1 = 0;
    double q2 = 0;
    double q3 = 0;
    for (int i = 0; i < k; i++) {
      double w = weight[i];
      double p0 = x[at0 + i] * w;
      double p1 = x[at1 + i] * w;
      double p2 = x[at2 + i] * w;
      double p3 = x[at3 + i] * w;
      s0 += p0;
      s1 += p1;
      s2 += p2;
      s3 += p3;
      q0 += p0 * p0;
      q1 += p1 * p1;
      q2 += p2 * p2;
      q3 += p3 * p3;
    }
    y[m * n + j] = s0;
    y[(m + 1) * n + j] = s1;
    y[(m + 2) * n + j] = s2;
    y[(m + 3) * n + j] = s3;
    squares[m * n + j] = q0;
    squares[(m + 1) * n + j] = q1;
    squares[(m + 2) * n + j] = q2;
    squares[(m + 3) * n + j] = q3;
  }

  private static double[] elementwise(Elementwise node, int rows, Map<Value, double[]> values) {
    int n = node.output().features();
    Source a = Source.of(node.operands().getFirst(), values);
    Source b = Source.of(node.operands().get(Math.min(1, node.kind().arity() - 1)), values);
    Source c = Source.of(node.operands().getLast(), values);
    double[] y = new double[Math.multiplyExact(rows, n)];
    for (int m = 0; m < rows; m++) {
      for (int j = 0; j < n; j++) {
        y[m * n + j] = node.kind().apply(a.at(m, j), b.at(m, j), c.at(m, j));
      }
    }
    return y;
  }

  private static double[] layerNorm(LayerNorm norm, int rows, double[] x) {
    int n = norm.output().features();
    double @Nullable [] scale = norm.scale() == null ? null : norm.scale().toDoubles();
    double @Nullable [] bias = norm.bias() == null ? null : norm.bias().toDoubles();
    double[] y = new double[x.length];
    for (int m = 0; m < rows; m++) {
      double mean = 0;
      for (int j = 0; j < n; j++) {
        mean += x[m * n + j];
      }
      mean /= n;
      double variance = 0;
      for (int j = 0; j < n; j++) {
        double d = x[m * n + j] - mean;
        variance += d * d;
      }
      variance /= n;
      double inverse = 1 / Math.sqrt(variance + norm.epsilon());
      for (int j = 0; j < n; j++) {
        double v = (x[m * n + j] - mean) * inverse;
        v = scale == null ? v : v * scale[j];
        y[m * n + j] = bias == null ? v : v + bias[j];
      }
    }
    return y;
  }

  private static double[] rowReduce(RowReduce reduce, int rows, double[] x) {
    int n = reduce.input().features();
    double[] y = new double[rows];
    for (int m = 0; m < rows; m++) {
      double result = x[m * n];
      for (int j = 1; j < n; j++) {
        double next = x[m * n + j];
        result =
            switch (reduce.kind()) {
              case SUM, MEAN -> result + next;
              case MAX -> Math.max(result, next);
              case MIN -> Math.min(result, next);
            };
      }
      y[m] = reduce.kind() == RowReduce.Kind.MEAN ? result / n : result;
    }
    return y;
  }

  private static double[] concat(Concat concat, int rows, Map<Value, double[]> values) {
    int n = concat.output().features();
    double[] y = new double[Math.multiplyExact(rows, n)];
    int first = 0;
    for (Value input : concat.inputs()) {
      double[] x = read(values, input);
      for (int m = 0; m < rows; m++) {
        System.arraycopy(x, m * input.features(), y, m * n + first, input.features());
      }
      first += input.features();
    }
    return y;
  }

  private static double[] columns(Columns columns, int rows, double[] x) {
    int n = columns.output().features();
    int width = columns.input().features();
    double[] y = new double[Math.multiplyExact(rows, n)];
    for (int m = 0; m < rows; m++) {
      for (int j = 0; j < n; j++) {
        y[m * n + j] = x[m * width + columns.source(j)];
      }
    }
    return y;
  }

  /** The element of an operand at a row and a column. */
  @FunctionalInterface
  private interface Source {
    double at(int row, int column);

    static Source of(Operand operand, Map<Value, double[]> values) {
      return switch (operand) {
        case Operand.OfValue(Value value) -> {
          double[] data = read(values, value);
          int n = value.features();
          yield n == 1 ? (row, column) -> data[row] : (row, column) -> data[row * n + column];
        }
        case Operand.OfTensor constant -> {
          double[] data = constant.tensor().toDoubles();
          yield data.length == 1 ? (row, column) -> data[0] : (row, column) -> data[column];
        }
      };
    }
  }
}
