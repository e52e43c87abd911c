package dev.warpwright.model.onnx;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.model.build.Activations;
import dev.warpwright.model.build.Arithmetic;
import dev.warpwright.model.build.Attentions;
import dev.warpwright.model.build.Gemms;
import dev.warpwright.model.build.GraphBuilder;
import dev.warpwright.model.build.Rows;
import dev.warpwright.model.build.Selection;
import dev.warpwright.model.build.Shapes;
import dev.warpwright.model.build.Term;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.onnx.Proto.Attribute;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One ONNX node with what its inputs stand for, and the operators that it may be made of.
 *
 * @param opset the version of the operator set
 */
record NodeContext(GraphBuilder builder, Proto.Node node, List<@Nullable Term> inputs, long opset) {

  Arithmetic arithmetic() {
    return new Arithmetic(builder);
  }

  Activations activations() {
    return new Activations(builder);
  }

  Shapes shapes() {
    return new Shapes(builder);
  }

  Selection selection() {
    return new Selection(builder);
  }

  Gemms products() {
    return new Gemms(builder);
  }

  Attentions attentions() {
    return new Attentions(builder);
  }

  Rows rows() {
    return new Rows(builder);
  }

  /** How messages call the node. */
  String where() {
    return node.label() + " (" + Names.printable(node.source()) + ")";
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

  /** An input, or null if it is left out. */
  @Nullable Term optional(int index) {
    return has(index) ? inputs.get(index) : null;
  }

  /** All inputs, none of which is left out. */
  List<Term> all() {
    List<Term> all = new ArrayList<>();
    for (int i = 0; i < inputs.size(); i++) {
      all.add(input(i));
    }
    return all;
  }

  /** An input that is a constant. */
  ConstantTensor constant(int index) {
    if (input(index) instanceof Term.Constant(ConstantTensor tensor)) {
      return tensor;
    }
    throw error(
        "input "
            + Names.quote(node.inputs().get(index))
            + " is computed; only a constant is supported there");
  }

  /** An input that lists whole numbers. */
  List<Long> numbers(int index) {
    return shapes().numbers(input(index), "input " + Names.quote(node.inputs().get(index)));
  }

  /** Axes from an input, or in older versions of an operator from an attribute; or null. */
  @Nullable List<Long> axes(int index) {
    return has(index) ? numbers(index) : intsAttribute("axes");
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

  UserError error(String what) {
    return builder.error(what);
  }
}
