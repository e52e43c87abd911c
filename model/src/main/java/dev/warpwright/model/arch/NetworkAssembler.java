package dev.warpwright.model.arch;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.LayerNorm;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.RowReduce;
import dev.warpwright.model.graph.Value;
import dev.warpwright.model.weights.Weights;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Pointwise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Puts named weights and the steps of a network together to a graph. */
public final class NetworkAssembler {
  /** From here on log(1 + eˣ) is x, to the last bit of a float. */
  private static final double SOFTPLUS_IS_LINEAR = 20;

  private static final List<Dim> ROWS = List.of(new Dim.Symbolic("batch"));

  private final Weights weights;
  private final DType dtype;
  private final Value input;
  private final List<Node> nodes = new ArrayList<>();
  private final Map<String, Value> saved = new HashMap<>();
  private Value current;
  private int step;

  private NetworkAssembler(Weights weights, DType dtype, int features) {
    this.weights = weights;
    this.dtype = dtype;
    this.input = new Value("input", dtype, features, ROWS);
    this.current = input;
  }

  /**
   * {@return the network of an architecture with these weights}
   *
   * @param weights with the shapes that the architecture says
   * @param architecture which layers there are
   * @throws UserError if they do not fit, or the description cannot be read
   */
  public static Graph assemble(Weights weights, Architecture architecture) {
    List<Step> steps =
        switch (architecture) {
          case Architecture.Mlp mlp -> MlpReader.steps(mlp, weights);
          case Architecture.Described(var file) -> DescriptionReader.read(file);
        };
    ConstantTensor first = first(weights, steps);
    long features = first.shape().getLast();
    if (features < 1 || features > Integer.MAX_VALUE) {
      throw new UserError(weights.file() + ": tensor " + describe(first) + " has no inputs");
    }
    return new NetworkAssembler(weights, first.dtype(), (int) features).run(steps);
  }

  /** The first weight; before it everything is elementwise, so it tells the input's features. */
  private static ConstantTensor first(Weights weights, List<Step> steps) {
    for (Step step : steps) {
      String name =
          switch (step) {
            case Step.LinearStep linear -> linear.weight();
            case Step.NormStep norm -> norm.weight();
            case Step.PointwiseStep s -> null;
            case Step.FunctionStep s -> null;
            case Step.ScalarStep s -> null;
            case Step.CombineStep s -> null;
            case Step.SaveStep s -> null;
            case Step.LoadStep s -> null;
          };
      if (name != null) {
        ConstantTensor tensor = weights.tensor(name);
        if (tensor.rank() == 0) {
          throw new UserError(
              weights.file() + ": tensor " + describe(tensor) + " is a scalar, no weight");
        }
        return tensor;
      }
    }
    throw new UserError(weights.file() + ": --arch describes a network that uses no weight");
  }

  private Graph run(List<Step> steps) {
    for (Step next : steps) {
      apply(next);
      step++;
    }
    if (current == input) {
      throw error("the network's output is its input");
    }
    Value output = new Value("output", dtype, current.features(), ROWS);
    Operand last = new Operand.OfValue(current);
    if (nodes.getLast().output() == current) {
      nodes.add(nodes.removeLast().to(output));
    } else {
      nodes.add(new Elementwise(output, ElementwiseOp.IDENTITY, List.of(last), "output"));
    }
    return new Graph("network", List.of(input), List.of(output), nodes);
  }

  private void apply(Step next) {
    switch (next) {
      case Step.LinearStep linear -> linear(linear);
      case Step.NormStep norm -> norm(norm);
      case Step.PointwiseStep(Pointwise function) -> current = emit(function, current);
      case Step.FunctionStep function -> function(function);
      case Step.ScalarStep(Pointwise kind, double value) ->
          current = emit(kind, current, scalar(value));
      case Step.CombineStep(Pointwise kind, String with) -> {
        Value other = recall(with);
        if (other.features() != current.features()) {
          throw error(
              String.format(
                  Locale.ROOT,
                  "combines %d features with the %d of %s",
                  current.features(),
                  other.features(),
                  Names.quote(with)));
        }
        current = emit(kind, current, new Operand.OfValue(other));
      }
      case Step.SaveStep(String name) -> saved.put(name, current);
      case Step.LoadStep(String name) -> current = recall(name);
    }
  }

  private void linear(Step.LinearStep linear) {
    ConstantTensor weight = tensor(linear.weight());
    if (weight.rank() != 2
        || weight.shape().getLast() != current.features()
        || weight.shape().getFirst() < 1
        || weight.shape().getFirst() > Integer.MAX_VALUE) {
      throw error(
          String.format(
              Locale.ROOT,
              "weight %s does not fit; [outputs, %d] is needed",
              describe(weight),
              current.features()));
    }
    int outputs = weight.shape().getFirst().intValue();
    ConstantTensor bias = vector(linear.bias(), outputs);
    Value output = value(outputs);
    nodes.add(new Linear(output, current, weight, bias, linear.weight()));
    current = output;
  }

  private void norm(Step.NormStep norm) {
    int features = current.features();
    Value output = value(features);
    ConstantTensor scale = vector(norm.weight(), features);
    ConstantTensor bias = vector(norm.bias(), features);
    String name = norm.weight() == null ? "layer_norm " + step : norm.weight();
    nodes.add(new LayerNorm(output, current, scale, bias, norm.epsilon(), name));
    current = output;
  }

  private void function(Step.FunctionStep step) {
    Value x = current;
    Map<String, Double> numbers = step.numbers();
    current =
        switch (step.function()) {
          case SOFTPLUS -> softplus(x, number(numbers, "beta"), number(numbers, "threshold"));
          case LEAKY_RELU ->
              emit(ElementwiseOp.LEAKY_RELU, x, scalar(number(numbers, "negative_slope")));
          case PRELU -> emit(ElementwiseOp.LEAKY_RELU, x, slopes(step.weight()));
          case ELU -> emit(ElementwiseOp.ELU, x, scalar(number(numbers, "alpha")));
          case CELU -> celu(x, number(numbers, "alpha"));
          case CLIP -> clip(x, numbers.get("min"), numbers.get("max"));
          case SOFTMAX -> {
            Value e = emit(ElementwiseOp.EXP, shifted(x));
            yield emit(ElementwiseOp.DIV, e, of(reduce(RowReduce.Kind.SUM, e)));
          }
          case LOG_SOFTMAX -> {
            Value shifted = shifted(x);
            Value sum = reduce(RowReduce.Kind.SUM, emit(ElementwiseOp.EXP, shifted));
            yield emit(ElementwiseOp.SUB, shifted, of(emit(ElementwiseOp.LOG, sum)));
          }
        };
  }

  private Value softplus(Value x, double beta, double threshold) {
    Value inner = beta == 1 ? x : emit(ElementwiseOp.MUL, x, scalar(beta));
    Value smooth = emit(Activation.SOFTPLUS, inner);
    Value scaled = beta == 1 ? smooth : emit(ElementwiseOp.DIV, smooth, scalar(beta));
    if (threshold >= SOFTPLUS_IS_LINEAR) {
      return scaled;
    }
    Value above = emit(ElementwiseOp.GREATER, inner, scalar(threshold));
    return emit(ElementwiseOp.WHERE, above, of(x), of(scaled));
  }

  private Value celu(Value x, double alpha) {
    if (alpha == 1) {
      return emit(ElementwiseOp.ELU, x, scalar(1));
    }
    Value inner = emit(ElementwiseOp.DIV, x, scalar(alpha));
    return emit(ElementwiseOp.MUL, emit(ElementwiseOp.ELU, inner, scalar(1)), scalar(alpha));
  }

  private Value clip(Value x, @Nullable Double min, @Nullable Double max) {
    Value raised = min == null ? x : emit(ElementwiseOp.MAX, x, scalar(min));
    return max == null ? raised : emit(ElementwiseOp.MIN, raised, scalar(max));
  }

  /** A slope for each feature, or one for all. */
  private Operand slopes(@Nullable String weight) {
    ConstantTensor tensor = tensor(Objects.requireNonNull(weight));
    if (tensor.count() == 1 && tensor.rank() <= 1) {
      return scalar(tensor.doubleAt(0));
    }
    if (!tensor.shape().equals(List.of((long) current.features()))) {
      throw error(
          String.format(
              Locale.ROOT,
              "tensor %s does not fit; [%d] or [1] is needed",
              describe(tensor),
              current.features()));
    }
    return new Operand.OfTensor(tensor);
  }

  /** Less the largest of the row, so that no power overflows. */
  private Value shifted(Value x) {
    return emit(ElementwiseOp.SUB, x, of(reduce(RowReduce.Kind.MAX, x)));
  }

  private Value reduce(RowReduce.Kind kind, Value x) {
    Value output = value(1);
    nodes.add(new RowReduce(output, x, kind, "reduce " + step));
    return output;
  }

  private static Operand of(Value value) {
    return new Operand.OfValue(value);
  }

  private Value emit(Pointwise kind, Value x, Operand... more) {
    List<Operand> operands = new ArrayList<>();
    operands.add(new Operand.OfValue(x));
    operands.addAll(List.of(more));
    Value output = value(x.features());
    nodes.add(new Elementwise(output, kind, operands, kind.text() + " " + step));
    return output;
  }

  private Operand scalar(double value) {
    return new Operand.OfTensor(
        ConstantTensor.ofDoubles(Double.toString(value), dtype, List.of(), value));
  }

  private Value value(int features) {
    return new Value("value_" + nodes.size(), dtype, features, ROWS);
  }

  private Value recall(String name) {
    Value value = saved.get(name);
    if (value == null) {
      throw error("nothing was saved as " + Names.quote(name) + " before");
    }
    return value;
  }

  private @Nullable ConstantTensor vector(@Nullable String name, int features) {
    if (name == null) {
      return null;
    }
    ConstantTensor tensor = tensor(name);
    if (!tensor.shape().equals(List.of((long) features))) {
      throw error("tensor " + describe(tensor) + " does not fit; [" + features + "] is needed");
    }
    return tensor;
  }

  private ConstantTensor tensor(String name) {
    ConstantTensor tensor = weights.tensor(name);
    if (tensor.dtype() != dtype) {
      throw error(
          "tensor " + describe(tensor) + " has another type than the first weight, " + dtype);
    }
    return tensor;
  }

  private static String describe(ConstantTensor tensor) {
    return Names.quote(tensor.name()) + " " + tensor.typeText();
  }

  private UserError error(String what) {
    return new UserError(
        weights.file() + ": does not fit --arch at operation " + step + ": " + what);
  }

  /** A number that the reader has seen to. */
  private static double number(Map<String, Double> numbers, String name) {
    return Objects.requireNonNull(numbers.get(name));
  }
}
