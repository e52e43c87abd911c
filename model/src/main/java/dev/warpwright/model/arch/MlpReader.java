package dev.warpwright.model.arch;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.model.weights.Weights;
import dev.warpwright.workload.Pointwise;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the layers of a fully connected network among named weights: each matrix {@code X.weight}
 * is a layer, with {@code X.bias} if there is one. A state dict has them in order; elsewhere names
 * are ordered with their numbers as numbers, so that {@code 10.weight} comes after {@code
 * 2.weight}.
 */
final class MlpReader {
  private static final String ADVICE = "; describe the network in a file, --arch NAME.json";

  private final Architecture.Mlp mlp;
  private final Weights weights;

  private MlpReader(Architecture.Mlp mlp, Weights weights) {
    this.mlp = mlp;
    this.weights = weights;
  }

  /**
   * The steps of a network.
   *
   * @throws UserError if the weights do not have the widths, or there are others beside them
   */
  static List<Step> steps(Architecture.Mlp mlp, Weights weights) {
    return new MlpReader(mlp, weights).steps();
  }

  private List<Step> steps() {
    List<String> layers = named(2);
    int count = mlp.widths().size() - 1;
    if (layers.size() != count) {
      throw error(
          String.format(
              Locale.ROOT,
              "%d layers are given, but there are %d matrices called *.weight",
              count,
              layers.size()));
    }
    List<Step> steps = new ArrayList<>();
    Set<String> used = new HashSet<>();
    Iterator<String> slopes = named(1).iterator();
    for (int i = 0; i < count; i++) {
      String weight = layers.get(i);
      long inputs = mlp.widths().get(i);
      long outputs = mlp.widths().get(i + 1);
      check(weight, List.of(outputs, inputs));
      used.add(weight);
      String bias = weight.substring(0, weight.length() - "weight".length()) + "bias";
      boolean hasBias = weights.shape(bias) != null;
      if (hasBias) {
        check(bias, List.of(outputs));
        used.add(bias);
      }
      steps.add(new Step.LinearStep(weight, hasBias ? bias : null));
      if (i < count - 1) {
        steps.add(activation(mlp.activations().get(i), slopes, used));
      }
    }
    for (String name : weights.names()) {
      if (!used.contains(name) && weights.isUsable(name)) {
        throw error("tensor " + Names.quote(name) + " belongs to no layer");
      }
    }
    return steps;
  }

  /** The tensors called {@code X.weight} of so many dimensions, in order. */
  private List<String> named(int rank) {
    List<String> found = new ArrayList<>();
    for (String name : weights.names()) {
      List<Long> shape = weights.shape(name);
      boolean isWeight = name.equals("weight") || name.endsWith(".weight");
      if (isWeight && shape != null && shape.size() == rank) {
        found.add(name);
      }
    }
    if (!weights.inOrder()) {
      found.sort(Comparator.comparing(MlpReader::sortKey));
    }
    return found;
  }

  /** The name with each number widened, so that texts sort as numbers do. */
  private static String sortKey(String name) {
    StringBuilder key = new StringBuilder();
    int at = 0;
    while (at < name.length()) {
      int end = at;
      while (end < name.length() && name.charAt(end) >= '0' && name.charAt(end) <= '9') {
        end++;
      }
      if (end > at) {
        key.append("0".repeat(Math.max(0, 20 - (end - at)))).append(name, at, end);
        at = end;
      } else {
        key.append(name.charAt(at++));
      }
    }
    return key.toString();
  }

  private void check(String name, List<Long> expected) {
    @Nullable List<Long> shape = weights.shape(name);
    if (!expected.equals(shape)) {
      throw error(
          String.format(
              Locale.ROOT,
              "tensor %s has shape %s, but the widths need %s",
              Names.quote(name),
              shape,
              expected));
    }
  }

  /** An activation with its usual numbers; PReLU's slopes are the next vector. */
  private Step activation(String name, Iterator<String> slopes, Set<String> used) {
    Pointwise plain = ParametricFunction.plain(name);
    if (plain != null) {
      return new Step.PointwiseStep(plain);
    }
    ParametricFunction function = ParametricFunction.named(name);
    if (function == null) {
      throw new UserError(
          "--arch: unknown activation "
              + Names.quote(name)
              + "; supported: "
              + ParametricFunction.names());
    }
    if (function == ParametricFunction.PRELU) {
      if (!slopes.hasNext()) {
        throw error("prelu needs a vector of slopes called *.weight, there is no other");
      }
      String weight = slopes.next();
      used.add(weight);
      return new Step.FunctionStep(function, Map.of(), weight);
    }
    Map<String, Double> numbers = new HashMap<>();
    for (ParametricFunction.Parameter parameter : function.parameters()) {
      if (parameter.otherwise() == null) {
        throw error(function.text() + " needs \"" + parameter.name() + "\"");
      }
      numbers.put(parameter.name(), parameter.otherwise());
    }
    return new Step.FunctionStep(function, numbers, null);
  }

  private UserError error(String what) {
    return new UserError(weights.file() + ": does not fit --arch mlp: " + what + ADVICE);
  }
}
