package dev.warpwright.model.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes choices of features into the linear layer before or behind them, where they are rows or
 * columns of the weight, and splits linear layers of concatenations into sums, so that nothing is
 * moved when the network runs.
 */
final class FeatureFolding {
  /** Products of more parts would need too many accumulators at once. */
  private static final int MAX_PARTS = 3;

  private final Map<Value, Node> producers;
  private final Map<Value, List<Node>> readers;
  private final Map<Value, Integer> uses;

  FeatureFolding(
      Map<Value, Node> producers, Map<Value, List<Node>> readers, Map<Value, Integer> uses) {
    this.producers = producers;
    this.readers = readers;
    this.uses = uses;
  }

  /** The nodes that compute what a node does, with its output last; null to leave it. */
  @Nullable List<Node> fold(Node node) {
    return switch (node) {
      case Columns columns -> columns(columns);
      case Linear linear -> linear(linear);
      case Elementwise e -> null;
      case LayerNorm norm -> null;
      case RowReduce reduce -> null;
      case Concat concat -> null;
      case Attend attend -> null;
    };
  }

  private @Nullable List<Node> columns(Columns columns) {
    return switch (producers.get(columns.input())) {
      case Columns inner -> List.of(composed(columns, inner));
      case Concat concat -> within(columns, concat);
      case Linear linear -> rows(columns, linear);
      case null, default -> null;
    };
  }

  private static Columns composed(Columns columns, Columns inner) {
    int[] sources = new int[columns.output().features()];
    for (int n = 0; n < sources.length; n++) {
      sources[n] = inner.source(columns.source(n));
    }
    return new Columns(columns.output(), inner.input(), sources, columns.name());
  }

  /** A choice from one part of a concatenation. */
  private static @Nullable List<Node> within(Columns columns, Concat concat) {
    int first = 0;
    for (Value part : concat.inputs()) {
      int[] sources = new int[columns.output().features()];
      boolean inside = true;
      for (int n = 0; n < sources.length; n++) {
        sources[n] = columns.source(n) - first;
        inside &= sources[n] >= 0 && sources[n] < part.features();
      }
      if (inside) {
        return List.of(new Columns(columns.output(), part, sources, columns.name()));
      }
      first += part.features();
    }
    return null;
  }

  /** A choice from the outputs of a layer that nothing else reads is a layer of those rows. */
  private @Nullable List<Node> rows(Columns columns, Linear linear) {
    List<Node> all = readers.getOrDefault(linear.output(), List.of());
    if (uses.getOrDefault(linear.output(), 0) != all.size()) {
      return null; // it is an output of the graph too
    }
    Set<Integer> chosen = new HashSet<>();
    int total = 0;
    for (Node reader : all) {
      if (!(reader instanceof Columns other)) {
        return null;
      }
      for (int n = 0; n < other.output().features(); n++) {
        chosen.add(other.source(n));
        total++;
      }
    }
    if (total > chosen.size()) {
      return null; // some row would be multiplied twice
    }
    int inputs = linear.input().features();
    int outputs = columns.output().features();
    ConstantTensor weight =
        Matrices.pick(
            linear.weight(), outputs, inputs, (n, k) -> (long) columns.source(n) * inputs + k);
    ConstantTensor bias = null;
    if (linear.bias() != null) {
      ConstantTensor asRow =
          new ConstantTensor(
              linear.bias().name(),
              linear.bias().dtype(),
              List.of(1L, linear.bias().count()),
              linear.bias().data());
      ConstantTensor picked = Matrices.pick(asRow, 1, outputs, (n, k) -> columns.source(k));
      bias =
          new ConstantTensor(picked.name(), picked.dtype(), List.of((long) outputs), picked.data());
    }
    if (isRun(columns)) {
      weight = Matrices.block(linear.weight(), columns.source(0), 0, weight);
      bias =
          bias == null || linear.bias() == null
              ? null
              : Matrices.block(linear.bias(), columns.source(0), 0, bias);
    }
    return List.of(new Linear(columns.output(), linear.input(), weight, bias, linear.name()));
  }

  /** Whether neighbours are chosen, in order. */
  private static boolean isRun(Columns columns) {
    for (int n = 1; n < columns.output().features(); n++) {
      if (columns.source(n) != columns.source(0) + n) {
        return false;
      }
    }
    return true;
  }

  private @Nullable List<Node> linear(Linear linear) {
    return switch (producers.get(linear.input())) {
      case Columns columns -> scattered(linear, columns);
      case Concat concat -> parts(linear, concat);
      case null, default -> null;
    };
  }

  /** A layer of features in any order is a layer of all of them with zeros in its weight. */
  private static @Nullable List<Node> scattered(Linear linear, Columns columns) {
    Value input = columns.input();
    int old = linear.input().features();
    if (columns.isRegular()) {
      return null; // cheaper to choose, and what is left out may be NaN
    }
    Map<Integer, Integer> columnOf = new HashMap<>();
    for (int k = 0; k < old; k++) {
      if (columnOf.put(columns.source(k), k) != null) {
        return null; // two weights would have to be added and rounded
      }
    }
    ConstantTensor weight =
        Matrices.pick(
            linear.weight(),
            linear.output().features(),
            input.features(),
            (n, k) -> columnOf.containsKey(k) ? (long) n * old + columnOf.get(k) : -1);
    return List.of(new Linear(linear.output(), input, weight, linear.bias(), linear.name()));
  }

  /** A layer of a few values side by side is the sum of a layer of each. */
  private static @Nullable List<Node> parts(Linear linear, Concat concat) {
    if (concat.inputs().size() > MAX_PARTS) {
      return null;
    }
    List<Node> nodes = new ArrayList<>();
    int inputs = linear.input().features();
    int outputs = linear.output().features();
    int first = 0;
    Value sum = null;
    int left = concat.inputs().size();
    for (Value part : concat.inputs()) {
      int from = first;
      ConstantTensor weight =
          Matrices.block(
              linear.weight(),
              0,
              from,
              Matrices.pick(
                  linear.weight(),
                  outputs,
                  part.features(),
                  (n, k) -> (long) n * inputs + from + k));
      left--;
      boolean last = left == 0;
      Value product = last && sum == null ? linear.output() : like(linear.output());
      // The bias comes with the last part, so that it is added once.
      nodes.add(new Linear(product, part, weight, last ? linear.bias() : null, linear.name()));
      if (sum != null) {
        Value total = last ? linear.output() : like(linear.output());
        List<Operand> operands = List.of(new Operand.OfValue(sum), new Operand.OfValue(product));
        nodes.add(new Elementwise(total, ElementwiseOp.ADD, operands, linear.name()));
        sum = total;
      } else {
        sum = product;
      }
      first += part.features();
    }
    return nodes;
  }

  private static Value like(Value value) {
    return new Value(value.name(), value.dtype(), value.features(), value.leading());
  }
}
