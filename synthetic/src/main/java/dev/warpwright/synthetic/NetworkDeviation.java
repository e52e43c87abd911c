package dev.warpwright.synthetic;

import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.accuracy.SumAccuracy;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.model.graph.Attend;
import dev.warpwright.model.graph.Columns;
import dev.warpwright.model.graph.Concat;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.LayerNorm;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.RowReduce;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Pointwise;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.tensor.Approximations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The deviation of a network's outputs in a precision ({@link dev.warpwright.ir.accuracy}): what
 * honest arithmetic may add to each element.
 *
 * <p>Found by evaluating the network some times in double precision, with a random error wherever a
 * kernel rounds: operands of products (by their type's unit, if it does not hold them already),
 * weights, sums (by {@link SumAccuracy}), results of everything else in f32. Errors so take the way
 * through activations, norms and softmax that they really take, with their dependence on each
 * other; bounds of each layer multiplied together would be useless behind a few layers. The root of
 * the mean square of the outputs' differences is the deviation.
 *
 * <p>The errors that are planted are {@link #AMPLIFIED} times too large, and what they do is
 * divided by that again: so choices that rounding may tip (comparisons, signs, floors) tip in some
 * of the evaluations, and what is just not tipped is seen too. Few evaluations say little of a
 * single element: a sixteenth of the mean square of its row, or of its column if that is less, is
 * added. An estimate from 8 that is by chance a quarter of the truth (one in 10⁴) still leaves
 * {@link ErrorBound#DEVIATIONS} / 4 deviations for the error.
 */
public final class NetworkDeviation {
  private static final Set<Pointwise> STEPS =
      Set.of(ElementwiseOp.FLOOR, ElementwiseOp.CEIL, ElementwiseOp.SIGN, ElementwiseOp.WHERE);
  private static final Set<Pointwise> PERIODIC = Set.of(Activation.SIN, Activation.COS);
  private static final Set<Pointwise> OF_ERF = Set.of(Activation.ERF, Activation.GELU);
  private static final double AMPLIFIED = 4;
  private static final int SAMPLES = 8;
  private static final int SAMPLES_OF_STEPS = 32;
  private static final double F32 = 0x1p-24;

  /** Products with fewer inputs are computed in f32. */
  private static final int EXACT_BELOW = 8;

  private NetworkDeviation() {}

  /**
   * The deviations of each output, [rows, features] each.
   *
   * @param inputs as the network gets them
   */
  public static List<double[]> of(
      Graph graph, Precision precision, int rows, List<double[]> inputs) {
    return of(graph, precision, rows, inputs, GraphEvaluator.evaluate(graph, rows, inputs));
  }

  /**
   * The same where the outputs are known.
   *
   * @param exact what {@link GraphEvaluator} says of these inputs
   */
  public static List<double[]> of(
      Graph graph, Precision precision, int rows, List<double[]> inputs, List<double[]> exact) {
    boolean steps = graph.nodes().stream().anyMatch(NetworkDeviation::isStep);
    List<List<double[]>> samples =
        IntStream.range(0, steps ? SAMPLES_OF_STEPS : SAMPLES)
            .parallel()
            .mapToObj(i -> perturbed(graph, precision, rows, inputs, i))
            .toList();
    List<double[]> deviations = new ArrayList<>();
    for (int o = 0; o < exact.size(); o++) {
      double[] squares = new double[exact.get(o).length];
      for (List<double[]> sample : samples) {
        for (int i = 0; i < squares.length; i++) {
          double y = exact.get(o)[i];
          double d = Double.compare(sample.get(o)[i], y) == 0 ? 0 : sample.get(o)[i] - y;
          squares[i] += d * d / (AMPLIFIED * AMPLIFIED * samples.size());
        }
      }
      deviations.add(smoothed(squares, graph.outputs().get(o).features()));
    }
    return deviations;
  }

  private static boolean isStep(Node node) {
    return node instanceof Elementwise e && (e.kind().isTruth() || STEPS.contains(e.kind()));
  }

  private static double[] smoothed(double[] squares, int columns) {
    int rows = columns == 0 ? 0 : squares.length / columns;
    double[] ofRow = new double[rows];
    double[] ofColumn = new double[columns];
    for (int i = 0; i < squares.length; i++) {
      ofRow[i / columns] += squares[i] / columns;
      ofColumn[i % columns] += squares[i] / rows;
    }
    double[] deviations = new double[squares.length];
    for (int i = 0; i < squares.length; i++) {
      double around = Math.min(ofRow[i / columns], ofColumn[i % columns]);
      deviations[i] = Math.sqrt(squares[i] + around / 16);
    }
    return deviations;
  }

  private static List<double[]> perturbed(
      Graph graph, Precision precision, int rows, List<double[]> inputs, int sample) {
    Perturbation perturbation = new Perturbation(precision, new SplittableRandom(sample));
    List<double[]> some =
        inputs.stream().map(x -> perturbation.rounded(x, perturbation.operandUnit)).toList();
    return GraphEvaluator.evaluate(graph, rows, some, perturbation);
  }

  /** Random errors of the size of roundings. */
  private static final class Perturbation implements GraphEvaluator.Rounding {
    private final SplittableRandom random;
    private final Precision precision;
    private final double operandUnit;
    private final Map<ConstantTensor, Boolean> roundedWeights = new HashMap<>();

    Perturbation(Precision precision, SplittableRandom random) {
      this.precision = precision;
      this.random = random;
      this.operandUnit =
          switch (precision) {
            case F32 -> 0;
            // Hardware may ignore the low bits, where it does not round.
            case TF32 -> 0x1p-10;
            default -> ErrorBound.of(precision.operand()).unit();
          };
    }

    /** Between −1 and 1, times how much errors are amplified. */
    private double uniform() {
      return AMPLIFIED * (2 * random.nextDouble() - 1);
    }

    private double[] rounded(double[] values, double unit) {
      if (unit == 0) {
        return values;
      }
      double tiny = precision.operand() == DType.F16 ? 0x1p-25 : 0;
      double[] result = new double[values.length];
      for (int i = 0; i < values.length; i++) {
        double x = values[i];
        result[i] = isHeld(x) ? x : x + uniform() * (unit * Math.abs(x) + tiny);
      }
      return result;
    }

    /** Whether a value is one of the operands' type, as zero is, and small integers are. */
    private boolean isHeld(double x) {
      return x == narrow(x);
    }

    private double narrow(double x) {
      return switch (precision) {
        case F32 -> (float) x;
        case TF32 -> Numerics.tf32((float) x);
        default -> Numerics.round(precision.operand(), x);
      };
    }

    private boolean isExact(Linear linear) {
      return linear.input().features() < EXACT_BELOW;
    }

    @Override
    public double[] operand(Linear linear, double[] values) {
      return rounded(values, isExact(linear) ? 0 : operandUnit);
    }

    @Override
    public double sum(Linear linear, double sum, double squares) {
      int k = linear.input().features();
      boolean exact = isExact(linear);
      SumAccuracy sums =
          exact
              ? SumAccuracy.OF_F32
              : precision == Precision.TF32
                  ? new SumAccuracy(F32, 1, SumAccuracy.OF_TF32.truncation(), 4, 0, 0)
                  : precision.accuracy();
      double weights =
          !exact && roundedWeights.computeIfAbsent(linear.weight(), this::areRounded)
              ? operandUnit / Math.sqrt(3) * Math.sqrt(squares)
              : 0;
      double deviation = Math.hypot(sums.deviation(k) * SumAccuracy.scale(sum, squares), weights);
      return sum + AMPLIFIED * random.nextGaussian() * deviation + f32(sum);
    }

    private boolean areRounded(ConstantTensor weight) {
      return precision != Precision.F32
          && (precision == Precision.TF32 || weight.dtype() != precision.operand())
          && !Arrays.stream(weight.toDoubles()).allMatch(this::isHeld);
    }

    /** A rounding or two of a value in f32. */
    private double f32(double value) {
      return 2 * F32 * uniform() * value;
    }

    @Override
    public double[] result(Node node, double[] values, GraphEvaluator.Reads reads) {
      double[] result = values.clone();
      double[] normed = node instanceof LayerNorm norm ? normed(norm, reads) : new double[0];
      double[] attended =
          node instanceof Attend a
              ? a.deviations(reads.of(a.q()), reads.of(a.k()), reads.of(a.v()))
              : new double[0];
      for (int i = 0; i < result.length; i++) {
        double y = result[i];
        if (!Double.isFinite(y)) {
          continue;
        }
        result[i] =
            y
                + switch (node) {
                  // A bias was added.
                  case Linear _ -> f32(y);
                  case Elementwise e -> elementwise(e.kind(), y) + ofArgument(e, i, y, reads);
                  // Differences of the row's elements from their mean.
                  case LayerNorm _ -> 4 * f32(Math.abs(y)) + f32(normed[i]);
                  case RowReduce r -> f32(y) + summed(r, i, reads);
                  case Attend _ -> f32(y) + AMPLIFIED * random.nextGaussian() * attended[i];
                  case Concat _, Columns _ -> 0;
                };
      }
      return result;
    }

    /**
     * Functions of 4 ulp, near 0 of what they pass through there; networks of 16 bits may take
     * approximations ({@link Approximations}).
     */
    private double elementwise(Pointwise op, double y) {
      return switch (op.rounding()) {
        case EXACT -> 0;
        case ONCE -> f32(y);
        case FUNCTION -> approximate() ? approximated(op, y) : 4 * f32(y);
        case FUNCTION_OF_ONE ->
            approximate() ? approximated(op, y) : 4 * f32(Math.max(1, Math.abs(y)));
      };
    }

    private boolean approximate() {
      return precision.operand().bytes() == 2;
    }

    /** What becomes of an argument that was taken for another one near it. */
    private double ofArgument(Elementwise e, int i, double y, GraphEvaluator.Reads reads) {
      if (!approximate() || !PERIODIC.contains(e.kind())) {
        return 0;
      }
      Value input = e.inputs().getFirst();
      double x = reads.of(input)[input.features() == 1 ? i / e.output().features() : i];
      double slope = Math.sqrt(Math.max(0, 1 - y * y));
      return Double.isFinite(x) ? slope * Approximations.ARGUMENT * x * uniform() : 0;
    }

    private double approximated(Pointwise op, double y) {
      if (precision == Precision.BF16 && op == Activation.TANH) {
        return Approximations.TANH * uniform() * y;
      }
      double off = OF_ERF.contains(op) ? Approximations.ERF : 0x1p-20;
      return off * uniform() * Math.max(1, Math.abs(y));
    }

    /** What a norm's elements, far from 0, have to do with their distance from the mean. */
    private static double[] normed(LayerNorm norm, GraphEvaluator.Reads reads) {
      int n = norm.input().features();
      double[] x = reads.of(norm.input());
      double @Nullable [] scales = norm.scale() == null ? null : norm.scale().toDoubles();
      double[] result = new double[x.length];
      for (int row = 0; row < x.length; row += n) {
        double mean = 0;
        double squares = 0;
        for (int j = row; j < row + n; j++) {
          mean += x[j] / n;
          squares += x[j] * x[j] / n;
        }
        double variance = Math.max(0, squares - mean * mean) + norm.epsilon();
        for (int j = 0; j < n; j++) {
          double scale = scales == null ? 1 : Math.abs(scales[j]);
          result[row + j] =
              scale * (Math.abs(mean) + Math.abs(x[row + j])) / Math.sqrt(variance) + 4;
        }
      }
      return result;
    }

    /** Steps of a sum over a row. */
    private double summed(RowReduce reduce, int row, GraphEvaluator.Reads reads) {
      return switch (reduce.kind()) {
        case MAX, MIN -> 0;
        case SUM, MEAN -> {
          Value input = reduce.input();
          double[] x = reads.of(input);
          int n = input.features();
          double squares = 0;
          double sum = 0;
          for (int j = row * n; j < (row + 1) * n; j++) {
            squares += x[j] * x[j];
            sum += x[j];
          }
          double mean = reduce.kind() == RowReduce.Kind.MEAN ? n : 1;
          yield AMPLIFIED
              * random.nextGaussian()
              * SumAccuracy.OF_F32.deviation(n)
              * SumAccuracy.scale(sum, squares)
              / mean;
        }
      };
    }
  }
}
