package dev.warpwright.cli.fusion;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.measure.network.LibraryLayers;
import dev.warpwright.measure.network.LibraryLayers.Layer;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds in a graph the layers that a library would compute: GEMMs with an activation, or with one
 * and a gate, each of what the one before made.
 */
final class LibraryChain {
  private final Map<Value, Node> makers = new HashMap<>();
  private final DType type;

  private LibraryChain(Graph graph, DType type) {
    graph.nodes().forEach(node -> makers.put(node.output(), node));
    this.type = type;
  }

  /** A layer, and what it is computed of. */
  private record Found(Layer layer, Value input) {}

  /** An activation of a linear layer. */
  private record Activated(Linear linear, Activation activation) {}

  /** The layers; empty for a network that is more than such a chain. */
  static Optional<LibraryLayers> of(Graph graph, Precision precision) {
    if (graph.inputs().size() != 1 || graph.outputs().size() != 1) {
      return Optional.empty();
    }
    LibraryChain chain = new LibraryChain(graph, precision.operand());
    List<Layer> layers = new ArrayList<>();
    Value value = graph.outputs().getFirst();
    while (value != graph.inputs().getFirst()) {
      Found found = chain.found(value);
      if (found == null) {
        return Optional.empty();
      }
      layers.addFirst(found.layer());
      value = found.input();
    }
    return layers.isEmpty() ? Optional.empty() : Optional.of(new LibraryLayers(precision, layers));
  }

  private @Nullable Found found(Value value) {
    Activated plain = activated(value);
    if (plain != null) {
      return found(plain.activation(), List.of(plain.linear()));
    }
    if (!(makers.get(value) instanceof Elementwise e && e.kind() == ElementwiseOp.MUL)) {
      return null;
    }
    List<Value> factors = e.inputs();
    if (factors.size() != 2) {
      return null;
    }
    Activated first = activated(factors.get(0));
    Activated second = activated(factors.get(1));
    if (first == null
        || second == null
        || first.linear().input() != second.linear().input()
        || first.linear().output().features() != second.linear().output().features()) {
      return null;
    }
    Activated gate = second.activation() == Activation.NONE ? first : second;
    Activated up = gate == first ? second : first;
    return up.activation() == Activation.NONE
        ? found(gate.activation(), List.of(gate.linear(), up.linear()))
        : null;
  }

  private @Nullable Activated activated(Value value) {
    if (makers.get(value) instanceof Linear linear) {
      return new Activated(linear, Activation.NONE);
    }
    return makers.get(value) instanceof Elementwise e
            && e.kind() instanceof Activation activation
            && e.operands().getFirst() instanceof Operand.OfValue(Value of)
            && makers.get(of) instanceof Linear linear
        ? new Activated(linear, activation)
        : null;
  }

  /** Null where one of two projections has a bias. */
  private @Nullable Found found(Activation activation, List<Linear> linears) {
    List<MemorySegment> weights = new ArrayList<>();
    List<MemorySegment> biases = new ArrayList<>();
    for (Linear linear : linears) {
      weights.add(elements(linear.weight()));
      if (linear.bias() != null) {
        biases.add(elements(linear.bias()));
      }
    }
    if (!biases.isEmpty() && biases.size() != weights.size()) {
      return null;
    }
    Linear any = linears.getFirst();
    return new Found(
        new Layer(any.output().features(), any.input().features(), weights, biases, activation),
        any.input());
  }

  /** The bytes of a constant in the operands' type. */
  private MemorySegment elements(ConstantTensor constant) {
    if (constant.dtype() == type) {
      return constant.data();
    }
    MemorySegment elements = Arena.ofAuto().allocate(constant.count() * type.bytes(), 64);
    for (long i = 0; i < constant.count(); i++) {
      float x = constant.floatAt(i);
      switch (type) {
        case F16 -> elements.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(x));
        case BF16 -> elements.setAtIndex(ValueLayout.JAVA_SHORT, i, Numerics.bf16Bits(x));
        case F32 -> elements.setAtIndex(ValueLayout.JAVA_FLOAT, i, x);
        default -> throw new IllegalArgumentException("no network of " + type.text());
      }
    }
    return elements;
  }
}
