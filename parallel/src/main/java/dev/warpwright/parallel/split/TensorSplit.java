package dev.warpwright.parallel.split;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Origin;
import dev.warpwright.model.graph.Value;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A network whose layers are split over devices (tensor parallel), cut into pieces behind layers
 * whose results are partial sums. Every device computes the same pieces, with its own part of the
 * split layers' weights.
 */
public final class TensorSplit {
  /**
   * A part of the network.
   *
   * @param graph with the first device's weights; its inputs are the network's, or results of
   *     earlier pieces
   * @param summed which of its outputs are to be added over the devices, before others read them
   */
  public record Piece(Graph graph, Set<Value> summed) {}

  private final Graph graph;
  private final int devices;
  private final Layers layers;
  private final Map<Value, Value> parts = new IdentityHashMap<>();
  private final Map<ConstantTensor, Slice> slices = new IdentityHashMap<>();
  private final Map<ConstantTensor, Map<Slice.Kind, ConstantTensor>> made = new IdentityHashMap<>();
  private final List<Map<ConstantTensor, ConstantTensor>> ofDevices = new ArrayList<>();
  private final List<Piece> pieces;

  private TensorSplit(Graph graph, int devices) {
    this.graph = graph;
    this.devices = devices;
    this.layers = Layers.of(graph, devices);
    for (int device = 0; device < devices; device++) {
      ofDevices.add(new IdentityHashMap<>());
    }
    this.pieces = cut();
  }

  /**
   * Splits a network.
   *
   * @param devices at least 2
   * @throws UserError if it has no two layers to be split, one behind the other
   */
  public static TensorSplit of(Graph graph, int devices) {
    TensorSplit split = new TensorSplit(graph, devices);
    if (split.layers().stream().noneMatch(layer -> layer.how() == Layer.How.ROWS)) {
      throw new UserError(
          Names.quote(graph.name())
              + ": no linear layer of at least "
              + devices
              + " features that only other layers read, so nothing to split over "
              + devices
              + " GPUs by columns and rows; rows of inputs can be split (--gpus N,data)");
    }
    return split;
  }

  /** In the order in which they are computed. */
  public List<Piece> pieces() {
    return pieces;
  }

  private List<Piece> cut() {
    Map<Integer, List<Node>> levels = new TreeMap<>();
    Map<Value, Integer> level = new HashMap<>();
    for (Node node : graph.needed()) {
      int at = node.inputs().stream().mapToInt(v -> level.getOrDefault(v, 0)).max().orElse(0);
      levels.computeIfAbsent(at, l -> new ArrayList<>()).add(node);
      boolean sums = node instanceof Linear layer && layers.isByRows(layer);
      level.put(node.output(), sums ? at + 1 : at);
    }
    List<Piece> all = new ArrayList<>();
    List<List<Node>> each = List.copyOf(levels.values());
    for (int i = 0; i < each.size(); i++) {
      List<Node> later = each.subList(i + 1, each.size()).stream().flatMap(List::stream).toList();
      all.add(piece(i, each.get(i), later));
    }
    return List.copyOf(all);
  }

  private Piece piece(int number, List<Node> nodes, List<Node> later) {
    Set<Value> computed = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Value> inputs = new ArrayList<>();
    List<Value> outputs = new ArrayList<>();
    Set<Value> summed = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Node> own = new ArrayList<>();
    for (Node node : nodes) {
      for (Value input : node.inputs()) {
        if (!computed.contains(input) && !inputs.contains(input)) {
          inputs.add(input);
        }
      }
      Value output = node.output();
      boolean sums = node instanceof Linear layer && layers.isByRows(layer);
      if (sums) {
        summed.add(output);
      } else {
        computed.add(output);
      }
      own.add(part(node));
      if (sums
          || graph.outputs().contains(output)
          || later.stream().anyMatch(n -> n.inputs().contains(output))) {
        outputs.add(output);
      }
    }
    return new Piece(
        new Graph(
            graph.name() + "_" + number,
            inputs.stream().map(this::part).toList(),
            outputs.stream().map(this::part).toList(),
            own),
        summed);
  }

  /** The first device's part of a value. */
  private Value part(Value value) {
    return layers.isDivided(value)
        ? parts.computeIfAbsent(
            value,
            v -> new Value(v.name(), v.dtype(), Slice.share(v.features(), devices), v.leading()))
        : value;
  }

  private Node part(Node node) {
    return switch (node) {
      case Linear layer -> part(layer);
      case Elementwise operator when layers.isDivided(operator.output()) ->
          new Elementwise(
              part(operator.output()),
              operator.kind(),
              operator.operands().stream().map(this::part).toList(),
              operator.name());
      default -> node;
    };
  }

  private Node part(Linear layer) {
    if (layers.isByColumns(layer)) {
      return new Linear(
          part(layer.output()),
          layer.input(),
          slice(layer.weight(), Slice.Kind.FEATURES),
          layer.bias() == null ? null : slice(layer.bias(), Slice.Kind.FEATURES),
          layer.name());
    }
    if (layers.isByRows(layer)) {
      return new Linear(
          layer.output(),
          part(layer.input()),
          slice(layer.weight(), Slice.Kind.INPUTS),
          layer.bias() == null ? null : slice(layer.bias(), Slice.Kind.FIRST),
          layer.name());
    }
    return layer;
  }

  private Operand part(Operand operand) {
    return switch (operand) {
      case Operand.OfValue(Value value) -> new Operand.OfValue(part(value));
      case Operand.OfTensor vector ->
          vector.tensor().count() == 1
              ? vector
              : new Operand.OfTensor(slice(vector.tensor(), Slice.Kind.FEATURES));
    };
  }

  private ConstantTensor slice(ConstantTensor tensor, Slice.Kind kind) {
    return made.computeIfAbsent(tensor, t -> new HashMap<>())
        .computeIfAbsent(
            kind,
            k -> {
              Slice slice = new Slice(tensor, k, devices);
              ConstantTensor first = slice.of(0);
              slices.put(first, slice);
              return first;
            });
  }

  // ---- what the other devices have ---------------------------------------------------------

  /** Whether devices differ in a constant that the compiler made of a piece. */
  public boolean isSharded(ConstantTensor tensor) {
    return slices.containsKey(tensor)
        || switch (tensor.origin()) {
          case null -> false;
          case Origin.Stored _ -> false;
          case Origin.Reshaped(ConstantTensor from) -> isSharded(from);
          case Origin.Transposed(ConstantTensor from) -> isSharded(from);
          case Origin.Block(ConstantTensor from, long _, long _) -> isSharded(from);
          case Origin.Rounded(ConstantTensor from) -> isSharded(from);
          case Origin.Zeros _ -> false;
          case Origin.Interleaved(ConstantTensor from, ConstantTensor other, long _, int _) ->
              isSharded(from) || other != null && isSharded(other);
          case Origin.Stacked(List<ConstantTensor> parts) ->
              parts.stream().anyMatch(this::isSharded);
          case Origin.Scaled(ConstantTensor from, ConstantTensor factors) ->
              isSharded(from) || isSharded(factors);
        };
  }

  /**
   * A device's constant in the place of one that the compiler made of a piece.
   *
   * @throws IllegalStateException if it was made of a part of a weight, in a way that nobody knows
   */
  public ConstantTensor ofDevice(ConstantTensor tensor, int device) {
    if (device == 0 || !isSharded(tensor)) {
      return tensor;
    }
    Map<ConstantTensor, ConstantTensor> known = ofDevices.get(device);
    ConstantTensor found = known.get(tensor);
    if (found == null) {
      found = make(tensor, device);
      known.put(tensor, found);
    }
    return found;
  }

  private ConstantTensor make(ConstantTensor tensor, int device) {
    Slice slice = slices.get(tensor);
    if (slice != null) {
      return slice.of(device);
    }
    return switch (Objects.requireNonNull(tensor.origin())) {
      case Origin.Rounded(ConstantTensor from) -> ofDevice(from, device).tf32();
      case Origin.Interleaved(ConstantTensor from, ConstantTensor other, long rows, int group) ->
          ofDevice(from, device).interleaved(other(from, other, device), rows, group);
      case Origin.Stacked(List<ConstantTensor> parts) ->
          ofDevice(parts.getFirst(), device)
              .stacked(
                  parts.subList(1, parts.size()).stream()
                      .map(part -> ofDevice(part, device))
                      .toList());
      case Origin.Scaled(ConstantTensor from, ConstantTensor factors) ->
          ofDevice(from, device).scaled(ofDevice(factors, device));
      case Origin.Stored _,
          Origin.Reshaped _,
          Origin.Transposed _,
          Origin.Block _,
          Origin.Zeros _ ->
          throw new IllegalStateException("a part of a weight became " + tensor);
    };
  }

  /** Zeros of the same shape stay such. */
  private @Nullable ConstantTensor other(
      ConstantTensor from, @Nullable ConstantTensor other, int device) {
    return other != null && other.origin() instanceof Origin.Zeros
        ? ofDevice(from, device).zeros()
        : other == null ? null : ofDevice(other, device);
  }

  // ---- for reports -------------------------------------------------------------------------

  /**
   * A layer and how it is computed.
   *
   * @param name in the file
   */
  public record Layer(String name, How how) {
    /** How the devices share a layer. */
    public enum How {
      /** Each computes some of its features. */
      COLUMNS("columns"),
      /** Each has some of its inputs; the results are added. */
      ROWS("rows"),
      /** Each computes it. */
      WHOLE("whole");

      private final String text;

      How(String text) {
        this.text = text;
      }

      public String text() {
        return text;
      }
    }
  }

  /** The linear layers, in order. */
  public List<Layer> layers() {
    List<Layer> all = new ArrayList<>();
    for (Node node : graph.needed()) {
      if (node instanceof Linear layer) {
        all.add(
            new Layer(
                layer.name(),
                layers.isByRows(layer)
                    ? Layer.How.ROWS
                    : layers.isByColumns(layer) ? Layer.How.COLUMNS : Layer.How.WHOLE));
      }
    }
    return List.copyOf(all);
  }
}
