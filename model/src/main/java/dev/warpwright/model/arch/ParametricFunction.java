package dev.warpwright.model.arch;

import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Pointwise;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The functions that a description may name, spelled as PyTorch's are: those that take numbers, a
 * weight or a whole row, and by {@link #plain} all others.
 */
enum ParametricFunction {
  /** log(1 + e^(beta · x)) / beta, and x where beta · x is above the threshold. */
  SOFTPLUS(new Parameter("beta", 1.0), new Parameter("threshold", 20.0)),
  /** x, times the slope where it is negative. */
  LEAKY_RELU(new Parameter("negative_slope", 0.01)),
  /** x, times a slope of its own weight where it is negative. */
  PRELU,
  /** x if it is positive, otherwise alpha · (eˣ − 1). */
  ELU(new Parameter("alpha", 1.0)),
  /** x if it is positive, otherwise alpha · (e^(x / alpha) − 1). */
  CELU(new Parameter("alpha", 1.0)),
  /** x, not below min and not above max, of which one may be missing. */
  CLIP(new Parameter("min", null), new Parameter("max", null)),
  /** Over all features. */
  SOFTMAX,
  /** Over all features. */
  LOG_SOFTMAX;

  /**
   * A number in a description.
   *
   * @param otherwise what it is where it is missing; null where it has no default
   */
  record Parameter(String name, @Nullable Double otherwise) {}

  /** The activations, and what else may stand for one. */
  private static final Map<String, Pointwise> PLAIN =
      Stream.of(
              Stream.of(Activation.values()).filter(a -> a != Activation.NONE),
              Stream.of(
                  ElementwiseOp.EXP,
                  ElementwiseOp.LOG,
                  ElementwiseOp.SQRT,
                  ElementwiseOp.ABS,
                  ElementwiseOp.NEG,
                  ElementwiseOp.RECIPROCAL,
                  ElementwiseOp.IDENTITY))
          .flatMap(s -> s.map(Pointwise.class::cast))
          .collect(Collectors.toMap(Pointwise::text, f -> f, (a, b) -> a, LinkedHashMap::new));

  private final List<Parameter> parameters;

  ParametricFunction(Parameter... parameters) {
    this.parameters = List.of(parameters);
  }

  List<Parameter> parameters() {
    return parameters;
  }

  /** The name in a description. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The function of a name, or null. */
  static @Nullable ParametricFunction named(String name) {
    return Arrays.stream(values()).filter(f -> f.text().equals(name)).findFirst().orElse(null);
  }

  /** The function of a name that takes neither numbers nor weights, or null. */
  static @Nullable Pointwise plain(String name) {
    return named(name) == null ? PLAIN.get(name) : null;
  }

  /** All names. */
  static List<String> all() {
    return Stream.concat(
            PLAIN.keySet().stream(), Arrays.stream(values()).map(ParametricFunction::text))
        .distinct()
        .toList();
  }

  /** The same, for messages. */
  static String names() {
    return String.join(", ", all());
  }
}
