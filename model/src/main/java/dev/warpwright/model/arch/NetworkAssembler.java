package dev.warpwright.model.arch;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.build.Activations;
import dev.warpwright.model.build.Arithmetic;
import dev.warpwright.model.build.Gemms;
import dev.warpwright.model.build.GraphBuilder;
import dev.warpwright.model.build.Rows;
import dev.warpwright.model.build.Term;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.weights.Weights;
import dev.warpwright.workload.Pointwise;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Puts named weights and the steps of a network together to a graph. */
public final class NetworkAssembler {
  /** Of inputs of two dimensions, the one of features. */
  private static final int FEATURES = 1;

  private final Weights weights;
  private final DType dtype;
  private final GraphBuilder builder;
  private final Arithmetic arithmetic;
  private final Map<String, Term.Computed> saved = new HashMap<>();
  private Term.Computed current;
  private int step;

  private NetworkAssembler(Weights weights, DType dtype, int features) {
    this.weights = weights;
    this.dtype = dtype;
    // Constants are taken as they are stored: nothing is folded that a small file could blow up.
    this.builder = new GraphBuilder(weights.file(), 0, FEATURES);
    this.arithmetic = new Arithmetic(builder);
    this.current =
        builder.input("input", dtype, List.of(new Dim.Symbolic("batch"), new Dim.Fixed(features)));
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
    Term.Computed input = current;
    for (Step next : steps) {
      builder.at(where(), name(next), "value_" + step);
      apply(next);
      step++;
    }
    if (current.value() == input.value()) {
      throw builder.error("the network's output is its input");
    }
    return builder.finish("network", Map.of("output", current));
  }

  private String where() {
    return "does not fit --arch at operation " + step;
  }

  /** What a step's nodes are called. */
  private String name(Step next) {
    return switch (next) {
      case Step.LinearStep linear -> linear.weight();
      case Step.NormStep norm -> norm.weight() == null ? "layer_norm " + step : norm.weight();
      case Step.PointwiseStep(Pointwise function) -> function.text() + " " + step;
      case Step.FunctionStep function -> function.function().text() + " " + step;
      case Step.ScalarStep scalar -> scalar.kind().text() + " " + step;
      case Step.CombineStep combine -> combine.kind().text() + " " + step;
      case Step.SaveStep _, Step.LoadStep _ -> "";
    };
  }

  private void apply(Step next) {
    Term result =
        switch (next) {
          case Step.LinearStep linear -> linear(linear);
          case Step.NormStep norm -> norm(norm);
          case Step.PointwiseStep(Pointwise function) -> arithmetic.unary(function, current);
          case Step.FunctionStep function -> function(function);
          case Step.ScalarStep(Pointwise kind, double value) ->
              arithmetic.binary(kind, current, value);
          case Step.CombineStep(Pointwise kind, String with) -> combined(kind, with);
          case Step.SaveStep(String name) -> {
            saved.put(name, current);
            yield current;
          }
          case Step.LoadStep(String name) -> recall(name);
        };
    current = (Term.Computed) result;
  }

  private int features() {
    return current.value().features();
  }

  private Term combined(Pointwise kind, String with) {
    Term.Computed other = recall(with);
    if (other.value().features() != features()) {
      throw builder.error(
          String.format(
              Locale.ROOT,
              "combines %d features with the %d of %s",
              features(),
              other.value().features(),
              Names.quote(with)));
    }
    return arithmetic.binary(kind, current, other);
  }

  private Term linear(Step.LinearStep linear) {
    ConstantTensor weight = tensor(linear.weight());
    if (weight.rank() != 2
        || weight.shape().getLast() != features()
        || weight.shape().getFirst() < 1
        || weight.shape().getFirst() > Integer.MAX_VALUE) {
      throw builder.error(
          String.format(
              Locale.ROOT,
              "weight %s does not fit; [outputs, %d] is needed",
              describe(weight),
              features()));
    }
    int outputs = weight.shape().getFirst().intValue();
    Term bias = vector(linear.bias(), outputs);
    return new Gemms(builder).linear(current, new Term.Constant(weight), bias);
  }

  private Term norm(Step.NormStep norm) {
    Term scale = vector(norm.weight(), features());
    Term bias = vector(norm.bias(), features());
    return new Rows(builder).layerNorm(current, FEATURES, scale, bias, norm.epsilon());
  }

  private Term function(Step.FunctionStep step) {
    Map<String, Double> numbers = step.numbers();
    Activations activations = new Activations(builder);
    return switch (step.function()) {
      case SOFTPLUS ->
          activations.softplus(current, number(numbers, "beta"), number(numbers, "threshold"));
      case LEAKY_RELU ->
          arithmetic.binary(ElementwiseOp.LEAKY_RELU, current, number(numbers, "negative_slope"));
      case PRELU -> arithmetic.binary(ElementwiseOp.LEAKY_RELU, current, slopes(step.weight()));
      case ELU -> activations.elu(current, number(numbers, "alpha"), 1);
      case CELU -> activations.celu(current, number(numbers, "alpha"));
      case CLIP ->
          activations.clip(current, scalar(numbers.get("min")), scalar(numbers.get("max")));
      case SOFTMAX -> new Rows(builder).softmax(current, FEATURES);
      case LOG_SOFTMAX -> new Rows(builder).logSoftmax(current, FEATURES);
    };
  }

  /** A slope for each feature, or one for all. */
  private Term slopes(@Nullable String weight) {
    ConstantTensor tensor = tensor(Objects.requireNonNull(weight));
    boolean one = tensor.count() == 1 && tensor.rank() <= 1;
    if (!one && !tensor.shape().equals(List.of((long) features()))) {
      throw builder.error(
          String.format(
              Locale.ROOT,
              "tensor %s does not fit; [%d] or [1] is needed",
              describe(tensor),
              features()));
    }
    return new Term.Constant(tensor);
  }

  private @Nullable Term scalar(@Nullable Double value) {
    return value == null ? null : Arithmetic.number(value, dtype);
  }

  private Term.Computed recall(String name) {
    Term.Computed value = saved.get(name);
    if (value == null) {
      throw builder.error("nothing was saved as " + Names.quote(name) + " before");
    }
    return value;
  }

  private @Nullable Term vector(@Nullable String name, int features) {
    if (name == null) {
      return null;
    }
    ConstantTensor tensor = tensor(name);
    if (!tensor.shape().equals(List.of((long) features))) {
      throw builder.error(
          "tensor " + describe(tensor) + " does not fit; [" + features + "] is needed");
    }
    return new Term.Constant(tensor);
  }

  private ConstantTensor tensor(String name) {
    ConstantTensor tensor = weights.tensor(name);
    if (tensor.dtype() != dtype) {
      throw builder.error(
          "tensor " + describe(tensor) + " has another type than the first weight, " + dtype);
    }
    return tensor;
  }

  private static String describe(ConstantTensor tensor) {
    return Names.quote(tensor.name()) + " " + tensor.typeText();
  }

  /** A number that the reader has seen to. */
  private static double number(Map<String, Double> numbers, String name) {
    return Objects.requireNonNull(numbers.get(name));
  }
}
