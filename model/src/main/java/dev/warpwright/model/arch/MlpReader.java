package dev.warpwright.model.arch;

import dev.warpwright.ir.UserError;
import dev.warpwright.model.Names;
import dev.warpwright.model.weights.Weights;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
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
    List<String> layers = layers();
    int count = mlp.widths().size() - 1;
    if (layers.size() != count) {
      throw error(
          String.format(
              "%d layers are given, but there are %d matrices called *.weight",
              count, layers.size()));
    }
    List<Step> steps = new ArrayList<>();
    Set<String> used = new HashSet<>();
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
        steps.add(new Step.ActivationStep(activation(mlp.activations().get(i))));
      }
    }
    for (String name : weights.names()) {
      if (!used.contains(name) && weights.isUsable(name)) {
        throw error("tensor " + Names.quote(name) + " belongs to no layer");
      }
    }
    return steps;
  }

  private List<String> layers() {
    List<String> layers = new ArrayList<>();
    for (String name : weights.names()) {
      List<Long> shape = weights.shape(name);
      boolean isWeight = name.equals("weight") || name.endsWith(".weight");
      if (isWeight && shape != null && shape.size() == 2) {
        layers.add(name);
      }
    }
    if (!weights.inOrder()) {
      layers.sort(Comparator.comparing(MlpReader::sortKey));
    }
    return layers;
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
              "tensor %s has shape %s, but the widths need %s",
              Names.quote(name), shape, expected));
    }
  }

  private static Activation activation(String name) {
    Activation activation = Activation.named(name);
    if (activation == null) {
      throw new UserError(
          "--arch: unknown activation "
              + Names.quote(name)
              + "; supported: "
              + String.join(", ", Activation.names()));
    }
    return activation;
  }

  private UserError error(String what) {
    return new UserError(weights.file() + ": does not fit --arch mlp: " + what + ADVICE);
  }
}
