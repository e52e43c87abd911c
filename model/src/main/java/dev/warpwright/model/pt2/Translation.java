package dev.warpwright.model.pt2;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.onnx.Proto;
import dev.warpwright.model.pt2.Program.Meta;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The ONNX graph that a program becomes, so far. */
final class Translation {
  /** Numbers that constants made here may have in all. */
  private static final long MAX_FILLED = 16 << 20;

  private final String file;
  private final Map<String, Meta> metas;
  private final Map<String, ConstantTensor> constants = new HashMap<>();
  private final List<ConstantTensor> initializers = new ArrayList<>();
  private final List<Proto.Node> nodes = new ArrayList<>();
  private final Map<String, Integer> uses = new HashMap<>();
  private final Map<String, String> producers = new HashMap<>();
  private final Map<String, String> transposed = new HashMap<>();
  private final Set<String> spelledOut = new HashSet<>();
  private long filled;
  private int names;

  /**
   * A translation of a program.
   *
   * @param file the archive's name in messages, printable
   */
  Translation(String file, Program program) {
    this.file = file;
    this.metas = program.tensors();
    program.outputs().forEach(output -> uses.merge(output, 1, Integer::sum));
    for (Program.Node node : program.nodes()) {
      for (Argument argument : node.arguments().values()) {
        switch (argument) {
          case Argument.OfTensor(String name) -> uses.merge(name, 1, Integer::sum);
          case Argument.OfTensors(List<String> all) ->
              all.forEach(name -> uses.merge(name, 1, Integer::sum));
          default -> {}
        }
      }
      node.outputs().forEach(output -> producers.put(output, node.target()));
    }
  }

  List<ConstantTensor> initializers() {
    return initializers;
  }

  List<Proto.Node> nodes() {
    return nodes;
  }

  /** Adds a constant; gives its name. */
  String constant(ConstantTensor tensor) {
    if (constants.put(tensor.name(), tensor) != null) {
      throw error("defines " + Names.quote(tensor.name()) + " twice");
    }
    initializers.add(tensor);
    return tensor.name();
  }

  /** A constant, or null if there is none of this name. */
  @Nullable ConstantTensor constant(String name) {
    return constants.get(name);
  }

  String scalar(double value, DType dtype) {
    String name = "constant/" + dtype.text() + "/" + value;
    return constants.containsKey(name) ? name : constant(number(name, dtype, List.of(), value));
  }

  /** A constant of this shape with one number everywhere. */
  String filled(double value, DType dtype, List<Long> shape) {
    String name = "constant/" + dtype.text() + "/" + value + shape;
    if (constants.containsKey(name)) {
      return name;
    }
    long count = ConstantTensor.elementCount(shape);
    if (count < 1 || count > MAX_FILLED - filled) {
      throw error("needs constants of more than " + MAX_FILLED + " numbers");
    }
    filled += count;
    double[] values = new double[(int) count];
    Arrays.fill(values, value);
    return constant(number(name, dtype, shape, values));
  }

  private ConstantTensor number(String name, DType dtype, List<Long> shape, double... values) {
    if (dtype.isFloat()) {
      return ConstantTensor.ofDoubles(name, dtype, shape, values);
    }
    if (dtype == DType.I64) {
      return ConstantTensor.ofLongs(
          name, shape, Arrays.stream(values).mapToLong(v -> (long) v).toArray());
    }
    throw error("computes with numbers of type " + dtype + ", which is not supported");
  }

  /** A name that nothing has yet. */
  String fresh(String like) {
    return like + "/" + (++names);
  }

  /** What is known of a tensor: of a constant by itself, of others by what the file says. */
  Meta meta(AtenCall call, String name) {
    ConstantTensor constant = constants.get(name);
    if (constant != null) {
      if (constant.count() == 0) {
        throw call.error("reads " + Names.quote(name) + ", which is empty");
      }
      return new Meta(
          constant.dtype(), constant.shape().stream().<Dim>map(Dim.Fixed::new).toList());
    }
    Meta meta = metas.get(name);
    if (meta == null) {
      throw call.error("reads or writes " + Names.quote(name) + ", of which nothing is said");
    }
    return meta;
  }

  void add(Proto.Node node) {
    nodes.add(node);
  }

  /** How often the program reads a value. */
  int uses(String name) {
    return uses.getOrDefault(name, 0);
  }

  /** The operator that computes a value, or null for inputs and constants. */
  @Nullable String producer(String name) {
    return producers.get(name);
  }

  /**
   * Remembers that a name is a transposed constant matrix, which is spelled out only if something
   * else than a product reads it.
   */
  void transposed(String name, String of) {
    transposed.put(name, of);
  }

  /** The constant matrix that this is the transpose of, or null. */
  @Nullable String untransposed(String name) {
    return transposed.get(name);
  }

  /** The name that a node may read, for a name of the program. */
  String read(String name) {
    String of = transposed.get(name);
    if (of != null && spelledOut.add(name)) {
      String label = "node " + Names.quote(name);
      nodes.add(
          new Proto.Node(
              name, label, "", "Transpose", "aten.t", List.of(of), List.of(name), Map.of()));
    }
    return name;
  }

  UserError error(String what) {
    return new UserError(file + ": " + what);
  }
}
