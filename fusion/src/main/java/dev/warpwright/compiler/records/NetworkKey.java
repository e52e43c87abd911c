package dev.warpwright.compiler.records;

import dev.warpwright.cuda.SourceHash;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.WorkloadKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * By what records of whole networks are found: what decides how fast its kernels are, and so no
 * weight. Fully connected networks are told by their widths, activations and biases, whatever they
 * were read from; others by their operations.
 */
public final class NetworkKey {
  public static final String MLP = "mlp";
  public static final String NETWORK = "network";

  private static final int MOST_ROWS = 1 << 22;
  private static final int HASH_DIGITS = 16;

  private NetworkKey() {}

  /** The key; row counts share one up to the next power of two. */
  public static WorkloadKey of(Graph graph, Precision precision, int rows) {
    Map<String, String> parameters = new HashMap<>();
    parameters.put("dtype", precision.text());
    parameters.put("rows", Integer.toString(bucket(rows)));
    Layers layers = layers(graph);
    if (layers == null) {
      parameters.put("graph", SourceHash.of(text(graph)).substring(0, HASH_DIGITS));
      return new WorkloadKey(NETWORK, parameters);
    }
    parameters.put("widths", layers.widths());
    parameters.put("act", layers.activations());
    parameters.put("bias", layers.biases());
    return new WorkloadKey(MLP, parameters);
  }

  /** The next power of two, of all large counts the same. */
  static int bucket(int rows) {
    return rows <= 1 ? 1 : rows >= MOST_ROWS ? MOST_ROWS : Integer.highestOneBit(rows - 1) * 2;
  }

  /** A chain of layers, as words. */
  private record Layers(String widths, String activations, String biases) {}

  /** Null if a graph is more than linear layers with at most one activation behind each. */
  private static @Nullable Layers layers(Graph graph) {
    if (graph.inputs().size() != 1 || graph.outputs().size() != 1) {
      return null;
    }
    Value current = graph.inputs().getFirst();
    List<String> widths = new ArrayList<>(List.of(Integer.toString(current.features())));
    List<String> activations = new ArrayList<>();
    Set<String> biases = new LinkedHashSet<>();
    for (Node node : graph.nodes()) {
      if (node.inputs().size() != 1 || node.inputs().getFirst() != current) {
        return null;
      }
      if (node instanceof Linear linear) {
        widths.add(Integer.toString(linear.output().features()));
        activations.add(Activation.NONE.text());
        biases.add(linear.bias() == null ? "0" : "1");
      } else if (node instanceof Elementwise e
          && e.kind() instanceof Activation activation
          && !activations.isEmpty()
          && activations.getLast().equals(Activation.NONE.text())) {
        activations.set(activations.size() - 1, activation.text());
      } else {
        return null;
      }
      current = node.output();
    }
    if (current != graph.outputs().getFirst() || biases.size() != 1) {
      return null;
    }
    return new Layers(String.join(",", widths), shortened(activations), biases.iterator().next());
  }

  /** One word for all hidden layers if they agree and the last has none. */
  private static String shortened(List<String> activations) {
    List<String> hidden = activations.subList(0, activations.size() - 1);
    boolean plain =
        activations.getLast().equals(Activation.NONE.text())
            && hidden.stream().distinct().count() <= 1;
    return plain
        ? hidden.isEmpty() ? Activation.NONE.text() : hidden.getFirst()
        : String.join(",", activations);
  }

  /** What is computed, with the numbers of formulas and the shapes of weights. */
  private static String text(Graph graph) {
    Map<Value, Integer> numbers = new HashMap<>();
    graph.inputs().forEach(input -> numbers.put(input, numbers.size()));
    String inputs =
        graph.inputs().stream()
            .map(input -> Integer.toString(input.features()))
            .collect(Collectors.joining(","));
    StringBuilder text = new StringBuilder(inputs);
    for (Node node : graph.nodes()) {
      text.append('\n').append(node.op());
      node.inputs().forEach(input -> text.append(" v").append(numbers.get(input)));
      for (ConstantTensor constant : node.constants()) {
        text.append(' ').append(constant.shape());
        if (constant.rank() == 0) {
          text.append(constant.doubleAt(0));
        }
      }
      numbers.put(node.output(), numbers.size());
      text.append(" -> ").append(node.output().features());
    }
    graph.outputs().forEach(output -> text.append("\nv").append(numbers.get(output)));
    return text.toString();
  }
}
