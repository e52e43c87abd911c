package dev.warpwright.model.onnx;

import dev.warpwright.ir.UserError;
import dev.warpwright.model.Names;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Tensor;
import dev.warpwright.model.graph.Value;
import dev.warpwright.model.onnx.Proto.Attribute;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One ONNX node with what its inputs stand for; its errors name the file, the node and the
 * operator.
 */
record NodeContext(Lowering lowering, Proto.Node node, List<@Nullable Term> inputs) {

  /** The name that the nodes made from this one get in messages. */
  String name() {
    return node.name().isEmpty() ? node.outputs().getFirst() : node.name();
  }

  boolean has(int index) {
    return index < inputs.size() && inputs.get(index) != null;
  }

  /** An input that is there; the operator's table has checked the number of inputs. */
  Term input(int index) {
    Term term = has(index) ? inputs.get(index) : null;
    if (term == null) {
      throw error("input " + index + " is missing");
    }
    return term;
  }

  /** An input that is computed, not a constant. */
  Value value(int index) {
    return switch (input(index)) {
      case Term.Computed(Value value) -> value;
      case Term.Constant(Tensor tensor) ->
          throw error(
              "input "
                  + Names.quote(node.inputs().get(index))
                  + " is a constant "
                  + type(tensor)
                  + "; only a computed value is supported there");
      case Term.Statistic statistic -> throw statisticError();
    };
  }

  /** An input that is a constant. */
  Tensor constant(int index) {
    return switch (input(index)) {
      case Term.Constant(Tensor tensor) -> tensor;
      case Term.Computed computed ->
          throw error(
              "input "
                  + Names.quote(node.inputs().get(index))
                  + " is computed; only a constant is supported there");
      case Term.Statistic statistic -> throw statisticError();
    };
  }

  UserError statisticError() {
    return error("reductions are supported only as the steps of a layer normalization");
  }

  long intAttribute(String name, long absent) {
    return switch (node.attributes().get(name)) {
      case null -> absent;
      case Attribute.OfInt(long value) -> value;
      default -> throw error("attribute " + name + " is no integer");
    };
  }

  float floatAttribute(String name, float absent) {
    return switch (node.attributes().get(name)) {
      case null -> absent;
      case Attribute.OfFloat(float value) -> value;
      default -> throw error("attribute " + name + " is no float");
    };
  }

  String stringAttribute(String name, String absent) {
    return switch (node.attributes().get(name)) {
      case null -> absent;
      case Attribute.OfString(String value) -> value;
      default -> throw error("attribute " + name + " is no string");
    };
  }

  @Nullable List<Long> intsAttribute(String name) {
    return switch (node.attributes().get(name)) {
      case null -> null;
      case Attribute.OfInts(List<Long> values) -> values;
      default -> throw error("attribute " + name + " is no list of integers");
    };
  }

  /** A new value with the name of the node's output and the rows of {@code like}. */
  Value result(Value like, int features) {
    return new Value(node.outputs().getFirst(), like.dtype(), features, like.leading());
  }

  /** A new value on the way to the node's output. */
  Value intermediate(Value like, int features, String step) {
    return new Value(
        node.outputs().getFirst() + "/" + step, like.dtype(), features, like.leading());
  }

  /** Adds a node to the graph; its output is the meaning of this ONNX node's output. */
  Term emit(Node made) {
    lowering.emit(made);
    return new Term.Computed(made.output());
  }

  UserError error(String what) {
    return lowering.error(node.label() + " (" + Names.printable(node.source()) + "): " + what);
  }

  static String type(Tensor tensor) {
    return tensor.typeText();
  }

  static String type(Value value) {
    return Names.printable(value.typeText());
  }
}
