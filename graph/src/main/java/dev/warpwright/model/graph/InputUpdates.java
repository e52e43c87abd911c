package dev.warpwright.model.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Outputs that are an input but for some columns, as a cache of fixed length is behind the step
 * that writes one of its places. Nothing else may need the input: its memory can be the output's.
 *
 * <pre>{@code
 * input    a a a a b b b b
 * added        x       y        groups 2, stride 4, first 2, columns 1
 * output   a a x a b b y b
 * }</pre>
 */
public final class InputUpdates {
  private final Graph graph;
  private final Map<Value, Node> nodes = new IdentityHashMap<>();
  private final Map<Value, Update> byOutput = new IdentityHashMap<>();

  /** Nodes that only move columns on the way to such an output: nobody computes them. */
  private final Set<Node> moving = Collections.newSetFromMap(new IdentityHashMap<>());

  /**
   * One of them.
   *
   * @param input that it is but for some columns
   * @param added what those columns are, in order
   * @param groups of columns
   * @param stride columns from one group to the next
   * @param first column of the first group that is another
   * @param columns of a group that are others
   */
  public record Update(Value input, Value added, int groups, int stride, int first, int columns) {}

  /** Where the columns of a value come from. */
  private record Columned(Value[] values, int[] columns) {}

  /**
   * Those of a graph.
   *
   * @param graph any
   */
  public InputUpdates(Graph graph) {
    this.graph = graph;
    graph.needed().forEach(node -> nodes.put(node.output(), node));
    for (Value output : graph.outputs()) {
      Set<Node> way = Collections.newSetFromMap(new IdentityHashMap<>());
      Update update = isMoved(output) ? update(output, columned(output, way)) : null;
      if (update != null && isAlone(update.input(), output, way)) {
        byOutput.put(output, update);
        moving.addAll(way);
      }
    }
  }

  /**
   * {@return what an output is; null if it is no such one}
   *
   * @param output of the graph, or any other value
   */
  public @Nullable Update of(Value output) {
    return byOutput.get(output);
  }

  /**
   * {@return whether a node is part of one, and not to be computed by itself}
   *
   * @param node of the graph
   */
  public boolean covers(Node node) {
    return moving.contains(node);
  }

  private boolean isMoved(Value value) {
    return nodes.get(value) instanceof Columns || nodes.get(value) instanceof Concat;
  }

  private Columned columned(Value value, Set<Node> way) {
    int count = value.features();
    Value[] values = new Value[count];
    int[] columns = new int[count];
    switch (nodes.get(value)) {
      case Columns chosen -> {
        way.add(chosen);
        Columned input = columned(chosen.input(), way);
        for (int n = 0; n < count; n++) {
          values[n] = input.values[chosen.source(n)];
          columns[n] = input.columns[chosen.source(n)];
        }
      }
      case Concat concat -> {
        way.add(concat);
        int first = 0;
        for (Value part : concat.inputs()) {
          Columned input = columned(part, way);
          System.arraycopy(input.values, 0, values, first, part.features());
          System.arraycopy(input.columns, 0, columns, first, part.features());
          first += part.features();
        }
      }
      case null, default -> {
        Arrays.fill(values, value);
        Arrays.setAll(columns, n -> n);
      }
    }
    return new Columned(values, columns);
  }

  private @Nullable Update update(Value output, Columned from) {
    int count = output.features();
    Value input = null;
    List<Integer> changed = new ArrayList<>();
    Value added = null;
    for (int n = 0; n < count; n++) {
      Value value = from.values[n];
      boolean same =
          from.columns[n] == n
              && value.features() == count
              && value.dtype() == output.dtype()
              && (input == null ? graph.inputs().contains(value) : input == value);
      if (same) {
        input = value;
      } else if ((added == null || added == value) && from.columns[n] == changed.size()) {
        added = value;
        changed.add(n);
      } else {
        return null;
      }
    }
    if (input == null || added == null || added == input || changed.size() != added.features()) {
      return null;
    }
    int first = changed.getFirst();
    int columns = 1;
    while (columns < changed.size() && changed.get(columns) == first + columns) {
      columns++;
    }
    int groups = changed.size() / columns;
    int stride = count / groups;
    Update update = new Update(input, added, groups, stride, first, columns);
    boolean even = groups * stride == count && groups * columns == changed.size();
    for (int i = 0; even && i < changed.size(); i++) {
      even = changed.get(i) == i / columns * stride + first + i % columns;
    }
    return even ? update : null;
  }

  /** Whether nobody needs an input, or what is made of it on the way, but for the output. */
  private boolean isAlone(Value input, Value output, Set<Node> way) {
    Set<Value> own = new HashSet<>();
    own.add(input);
    way.forEach(node -> own.add(node.output()));
    own.remove(output);
    return Collections.disjoint(own, graph.outputs())
        && graph.needed().stream()
            .allMatch(node -> way.contains(node) || Collections.disjoint(node.inputs(), own));
  }
}
