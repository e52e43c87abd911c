package dev.warpwright.model.pt2;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.onnx.Proto;
import dev.warpwright.model.onnx.Proto.Attribute;
import dev.warpwright.model.pt2.Program.Meta;
import dev.warpwright.workload.Activation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One call of an ATen operator, and the ONNX nodes that it becomes; its errors name the file, the
 * node and the operator.
 */
final class AtenCall {
  private final Translation translation;
  private final Program.Node node;
  private int steps;

  AtenCall(Translation translation, Program.Node node) {
    this.translation = translation;
    this.node = node;
  }

  // --- arguments

  private Argument argument(String name) {
    return node.arguments().getOrDefault(name, new Argument.None());
  }

  /** Whether an argument is given and not None. */
  boolean has(String name) {
    return !(argument(name) instanceof Argument.None);
  }

  /** The name of a tensor. */
  String tensor(String name) {
    if (argument(name) instanceof Argument.OfTensor(String tensor)) {
      return tensor;
    }
    throw wrong(name, "a tensor");
  }

  List<String> tensors(String name) {
    if (argument(name) instanceof Argument.OfTensors(List<String> names)) {
      return names;
    }
    throw wrong(name, "a list of tensors");
  }

  /** Whether an argument is a tensor, not a number. */
  boolean isTensor(String name) {
    return argument(name) instanceof Argument.OfTensor;
  }

  double number(String name, double absent) {
    return switch (argument(name)) {
      case Argument.None none -> absent;
      case Argument.OfFloat(double value) -> value;
      case Argument.OfInt(long value) -> value;
      case Argument.OfBool(boolean value) -> value ? 1 : 0;
      default -> throw wrong(name, "a number");
    };
  }

  double number(String name) {
    if (!has(name)) {
      throw wrong(name, "a number");
    }
    return number(name, 0);
  }

  long integer(String name, long absent) {
    return switch (argument(name)) {
      case Argument.None none -> absent;
      case Argument.OfInt(long value) -> value;
      default -> throw wrong(name, "an integer");
    };
  }

  boolean flag(String name, boolean absent) {
    return switch (argument(name)) {
      case Argument.None none -> absent;
      case Argument.OfBool(boolean value) -> value;
      default -> throw wrong(name, "true or false");
    };
  }

  String text(String name, String absent) {
    return switch (argument(name)) {
      case Argument.None none -> absent;
      case Argument.OfText(String value) -> value;
      default -> throw wrong(name, "a text");
    };
  }

  /** Integers that are known; one of them alone counts as a list. */
  List<Long> integers(String name) {
    return switch (argument(name)) {
      case Argument.OfInt(long value) -> List.of(value);
      case Argument.OfInts(var values) when values.stream().allMatch(Objects::nonNull) ->
          values.stream().map(Objects::requireNonNull).toList();
      default -> throw wrong(name, "a list of integers");
    };
  }

  Argument raw(String name) {
    return argument(name);
  }

  private UserError wrong(String name, String wanted) {
    String given =
        switch (argument(name)) {
          case Argument.None none -> "is missing";
          case Argument.OfSize size -> "is known only at run time";
          case Argument.Other(String kind) -> "is of kind " + kind;
          default -> "is no such thing";
        };
    return error("argument " + Names.quote(name) + " must be " + wanted + ", but " + given);
  }

  // --- what is known of tensors

  Meta meta(String tensor) {
    return translation.meta(this, tensor);
  }

  int rank(String tensor) {
    return meta(tensor).shape().size();
  }

  DType dtype(String tensor) {
    DType dtype = meta(tensor).dtype();
    if (dtype == null) {
      throw error(Names.quote(tensor) + " has an unsupported element type");
    }
    return dtype;
  }

  /** The number of this output. */
  String output(int index) {
    return index < node.outputs().size() ? node.outputs().get(index) : "";
  }

  /** The name of the only output, or of the first. */
  String output() {
    String name = output(0);
    if (name.isEmpty()) {
      throw error("has no output that is a tensor");
    }
    return name;
  }

  /** The type of the output. */
  DType outputType() {
    return dtype(output());
  }

  /** A dimension from 0 on, of one that may be counted from the end. */
  int dimension(long given, int rank) {
    if (given < -rank || given >= Math.max(rank, 1)) {
      throw error("dimension " + given + " of a tensor with " + rank);
    }
    return (int) (given < 0 ? given + rank : given);
  }

  /** The size of a dimension that must be known. */
  long size(String tensor, int dimension) {
    if (meta(tensor).shape().get(dimension) instanceof Dim.Fixed(long size)) {
      return size;
    }
    throw error(
        "dimension " + dimension + " of " + Names.quote(tensor) + " must not depend on the input");
  }

  // --- what it becomes

  /** A constant of one element, in the shape of a scalar. */
  String scalar(double value, DType dtype) {
    return translation.scalar(value, dtype);
  }

  /** A constant vector of integers. */
  String vector(List<Long> values) {
    return translation.constant(
        ConstantTensor.ofLongs(
            translation.fresh("sizes"),
            List.of((long) values.size()),
            values.stream().mapToLong(Long::longValue).toArray()));
  }

  /** A constant of this shape with one number everywhere. */
  String filled(double value, DType dtype, List<Long> shape) {
    return translation.filled(value, dtype, shape);
  }

  /** A tensor or number as an operand of this type: converted where PyTorch promotes it. */
  String operand(String name, DType dtype) {
    if (!isTensor(name)) {
      return scalar(number(name), dtype);
    }
    return cast(tensor(name), dtype);
  }

  /** A tensor in this type. */
  String cast(String tensor, DType dtype) {
    return dtype(tensor) == dtype
        ? tensor
        : step("Cast", List.of(tensor), Map.of("to", of((long) onnxType(dtype))));
  }

  /** A node on the way to the output; gives its name. */
  String step(String op, List<String> inputs, Map<String, Attribute> attributes) {
    String name = translation.fresh(node.name() + "/" + (++steps));
    emit(op, inputs, attributes, List.of(name));
    return name;
  }

  String step(String op, String... inputs) {
    return step(op, List.of(inputs), Map.of());
  }

  /** The node that gives the output. */
  void last(String op, List<String> inputs, Map<String, Attribute> attributes) {
    emit(op, inputs, attributes, List.of(output()));
  }

  void last(String op, String... inputs) {
    last(op, List.of(inputs), Map.of());
  }

  /** A node with outputs of these names; an empty one is left out. */
  void emit(
      String op, List<String> inputs, Map<String, Attribute> attributes, List<String> outputs) {
    List<String> read = new ArrayList<>();
    for (String input : inputs) {
      read.add(translation.read(input));
    }
    translation.add(
        new Proto.Node(
            node.name(), node.label(), "", op, node.target(), read, outputs, attributes));
  }

  /** The product of rows with a matrix [outputs, inputs], and a bias that may be empty. */
  void linear(String input, String weight, String bias, String output) {
    own("Linear", bias.isEmpty() ? List.of(input, weight) : List.of(input, weight, bias), output);
  }

  /** The result as an activation. */
  void activation(Activation activation) {
    own(activation.text(), List.of(tensor("self")), output());
  }

  /** An operator that ONNX has not. */
  private void own(String op, List<String> inputs, String output) {
    List<String> read = inputs.stream().map(translation::read).toList();
    translation.add(
        new Proto.Node(
            node.name(),
            node.label(),
            Proto.OWN_DOMAIN,
            op,
            node.target(),
            read,
            List.of(output),
            Map.of()));
  }

  Translation translation() {
    return translation;
  }

  static Attribute of(long value) {
    return new Attribute.OfInt(value);
  }

  static Attribute of(double value) {
    return new Attribute.OfFloat((float) value);
  }

  static Attribute of(List<Long> values) {
    return new Attribute.OfInts(values);
  }

  static int onnxType(DType dtype) {
    return switch (dtype) {
      case F32 -> 1;
      case U8 -> 2;
      case I8 -> 3;
      case I32 -> 6;
      case I64 -> 7;
      case BOOL -> 9;
      case F16 -> 10;
      case F64 -> 11;
      case U32 -> 12;
      case U64 -> 13;
      case BF16 -> 16;
      case F8E4M3, F8E5M2, MBARRIER, HANDLE ->
          throw new IllegalArgumentException("no tensor has type " + dtype);
    };
  }

  UserError error(String what) {
    return translation.error(node.label() + " (" + Names.printable(node.target()) + "): " + what);
  }
}
