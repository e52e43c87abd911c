package dev.warpwright.parallel.split;

import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Value;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Which layers are split by columns and which by rows. A layer is split by columns if all that
 * becomes of its features, through elementwise operators, is the input of other layers: those are
 * split by rows. All other layers are computed whole.
 */
final class Layers {
  private final Graph graph;
  private final int devices;
  private final Set<Linear> whole = Collections.newSetFromMap(new IdentityHashMap<>());

  /** Values of which each device has some features. */
  private final Map<Value, Node> divided = new IdentityHashMap<>();

  private Layers(Graph graph, int devices) {
    this.graph = graph;
    this.devices = devices;
  }

  /** Splits as many layers as can be. */
  static Layers of(Graph graph, int devices) {
    Layers layers = new Layers(graph, devices);
    // Each round computes at least one more layer whole.
    int before;
    do {
      before = layers.whole.size();
      layers.divide();
    } while (layers.whole.size() > before);
    return layers;
  }

  /** Whether a device has some features of a value only. */
  boolean isDivided(Value value) {
    return divided.containsKey(value);
  }

  /** Whether a layer has partial sums for its results. */
  boolean isByRows(Linear layer) {
    return isDivided(layer.input());
  }

  boolean isByColumns(Linear layer) {
    return isDivided(layer.output());
  }

  private void divide() {
    divided.clear();
    for (Node node : graph.needed()) {
      switch (node) {
        case Linear layer -> {
          if (!isDivided(layer.input())
              && !whole.contains(layer)
              && layer.output().features() >= devices) {
            divided.put(layer.output(), layer);
          }
        }
        case Elementwise operator -> {
          if (operator.inputs().stream().noneMatch(this::isDivided)) {
            continue;
          }
          boolean fits =
              operator.inputs().stream().allMatch(v -> isDivided(v) || v.features() == 1);
          if (fits) {
            divided.put(operator.output(), operator);
          } else {
            operator.inputs().forEach(this::computeWhole);
          }
        }
        default -> node.inputs().forEach(this::computeWhole);
      }
    }
    graph.outputs().forEach(this::computeWhole);
  }

  /** The layers whose features a value consists of are not split. */
  private void computeWhole(Value value) {
    switch (divided.get(value)) {
      case null -> {}
      case Linear layer -> whole.add(layer);
      case Node node -> node.inputs().forEach(this::computeWhole);
    }
  }
}
