package dev.warpwright.model.onnx;

import dev.warpwright.ir.DType;
import dev.warpwright.ir.UserError;
import dev.warpwright.model.Names;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Tensor;
import dev.warpwright.model.graph.Value;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns an ONNX model into a {@link Graph}, operator by operator in the order of the file. Weights
 * stay where they lie in the bytes, except those that must be transposed.
 */
public final class OnnxImporter {
  /** Broadcasting and the operators used here mean the same from 7 on. */
  private static final int MIN_OPSET = 7;

  private static final int MAX_OPSET = 24;

  private final Proto.Graph proto;
  private final Lowering lowering;
  private final LinkedHashSet<Value> inputs = new LinkedHashSet<>();

  private OnnxImporter(String file, Proto.Model model, long fileSize) {
    this.proto = model.graph();
    this.lowering = new Lowering(file, fileSize);
  }

  /**
   * Imports a model.
   *
   * @param file the name of the file in messages
   * @param bytes the whole file; must stay accessible as long as the graph is used
   * @throws UserError if the bytes are no valid ONNX model, or use something that is not supported
   */
  public static Graph importModel(String file, MemorySegment bytes) {
    return importModel(file, ProtoParser.parse(file, bytes), bytes.byteSize());
  }

  /**
   * Imports a model that is read already, or made from another format.
   *
   * @param fileSize in bytes; bounds what constants may be computed
   */
  public static Graph importModel(String file, Proto.Model model, long fileSize) {
    checkOpset(file, model);
    return new OnnxImporter(file, model, fileSize).run();
  }

  private static void checkOpset(String file, Proto.Model model) {
    Long version = model.opsets().get("");
    if (version == null) {
      throw new UserError(
          Names.printable(file) + ": no ONNX model: it names no version of the operator set");
    }
    if (version < MIN_OPSET || version > MAX_OPSET) {
      throw new UserError(
          String.format(
              "%s: operator set version %d is not supported; export with opset_version %d to %d",
              Names.printable(file), version, MIN_OPSET, MAX_OPSET));
    }
  }

  private Graph run() {
    Set<String> constants = new HashSet<>();
    for (Tensor tensor : proto.initializers()) {
      lowering.define(tensor.name(), new Term.Constant(tensor), "an initializer");
      constants.add(tensor.name());
    }
    for (Proto.ValueInfo info : proto.inputs()) {
      // until IR version 3, initializers had to be listed as inputs too
      if (!constants.contains(info.name())) {
        Value value = input(info);
        if (!inputs.isEmpty() && !inputs.getFirst().leading().equals(value.leading())) {
          throw lowering.error(
              "inputs "
                  + describe(inputs.getFirst())
                  + " and "
                  + describe(value)
                  + " have different rows, which is not supported");
        }
        inputs.add(value);
        lowering.define(info.name(), new Term.Computed(value), "a graph input");
      }
    }
    if (inputs.isEmpty()) {
      throw lowering.error("the model has no input");
    }
    proto.nodes().forEach(this::lower);
    List<Value> outputs = outputs();
    return new Graph(proto.name(), List.copyOf(inputs), outputs, lowering.nodes());
  }

  private Value input(Proto.ValueInfo info) {
    String what = "input " + Names.quote(info.name());
    DType dtype = OnnxType.dtype(info.elementType());
    if (dtype == null || !dtype.isFloat()) {
      throw lowering.error(
          what
              + " has type "
              + OnnxType.name(info.elementType())
              + "; supported: float32, float16, bfloat16, float64");
    }
    List<Dim> shape = info.shape();
    if (shape == null || shape.isEmpty()) {
      throw lowering.error(what + " has no declared shape, or is a scalar; it needs features");
    }
    if (!(shape.getLast() instanceof Dim.Fixed(long features)) || features > Integer.MAX_VALUE) {
      throw lowering.error(
          what + " has a dynamic last dimension; only leading dimensions may be dynamic");
    }
    return new Value(info.name(), dtype, (int) features, shape.subList(0, shape.size() - 1));
  }

  private void lower(Proto.Node node) {
    Operator operator = Operators.find(node);
    if (operator == null) {
      String type = node.domain().isEmpty() ? node.opType() : node.domain() + "." + node.opType();
      throw lowering.error(
          node.label()
              + " has unsupported operator "
              + Names.quote(type)
              + "; supported: "
              + String.join(", ", Operators.ALL.keySet()));
    }
    if (node.outputs().isEmpty() || node.outputs().getFirst().isEmpty()) {
      throw lowering.error(node.label() + " has no output");
    }
    NodeContext context = new NodeContext(lowering, node, inputs(node));
    int count = node.inputs().size();
    if (count < operator.minInputs() || count > operator.maxInputs()) {
      throw context.error(
          String.format(
              "has %d inputs instead of %d to %d",
              count, operator.minInputs(), operator.maxInputs()));
    }
    for (String attribute : node.attributes().keySet()) {
      if (!operator.attributes().contains(attribute)) {
        throw context.error("attribute " + Names.quote(attribute) + " is not supported");
      }
    }
    // further outputs stay undefined, so that a node that uses one is refused with its name
    Term result = operator.rule().lower(context);
    lowering.define(node.outputs().getFirst(), result, node.label());
  }

  private List<@Nullable Term> inputs(Proto.Node node) {
    List<@Nullable Term> terms = new ArrayList<>();
    for (String name : node.inputs()) {
      Term term = name.isEmpty() ? null : lowering.find(name);
      if (term == null && !name.isEmpty()) {
        throw lowering.error(
            node.label() + " reads " + Names.quote(name) + ", " + whyUnknown(name));
      }
      terms.add(term);
    }
    return terms;
  }

  private String whyUnknown(String name) {
    for (Proto.Node node : proto.nodes()) {
      int index = node.outputs().indexOf(name);
      if (index > 0) {
        return "an output of " + node.label() + " that is not supported";
      }
      if (index == 0) {
        return "which " + node.label() + " computes only later: nodes are cyclic or out of order";
      }
    }
    return "which is no input, initializer or output of a node";
  }

  private List<Value> outputs() {
    List<Value> outputs = new ArrayList<>();
    Set<String> names = new HashSet<>();
    if (proto.outputs().isEmpty()) {
      throw lowering.error("the model has no output");
    }
    for (Proto.ValueInfo info : proto.outputs()) {
      String what = "output " + Names.quote(info.name());
      if (!names.add(info.name())) {
        throw lowering.error(what + " is listed twice");
      }
      Value value =
          switch (lowering.find(info.name())) {
            case null -> throw lowering.error(what + " is computed by no node");
            case Term.Constant constant -> throw lowering.error(what + " is a constant");
            case Term.Statistic statistic ->
                throw lowering.error(what + " is a reduction, which is not supported");
            case Term.Computed(Value computed) -> computed;
          };
      checkDeclared(what, info, value);
      outputs.add(named(info.name(), value));
    }
    return outputs;
  }

  /** Where operators were folded away, a copy gives the result the name that the file promises. */
  private Value named(String name, Value value) {
    if (value.name().equals(name) && !inputs.contains(value)) {
      return value;
    }
    Value output = new Value(name, value.dtype(), value.features(), value.leading());
    List<Operand> operands = List.of(new Operand.OfValue(value));
    lowering.emit(new Elementwise(output, ElementwiseOp.IDENTITY, operands, name));
    return output;
  }

  private void checkDeclared(String what, Proto.ValueInfo info, Value value) {
    boolean typeFits =
        info.elementType() == 0 || OnnxType.dtype(info.elementType()) == value.dtype();
    List<Dim> shape = info.shape();
    boolean shapeFits =
        shape == null
            || (shape.size() == value.leading().size() + 1
                && (shape.getLast() instanceof Dim.Symbolic
                    || shape.getLast().equals(new Dim.Fixed(value.features()))));
    if (!typeFits || !shapeFits) {
      throw lowering.error(
          what
              + " is declared as "
              + OnnxType.name(info.elementType())
              + Names.printable(String.valueOf(shape))
              + ", but the nodes compute "
              + NodeContext.type(value));
    }
  }

  private static String describe(Value value) {
    return Names.quote(value.name()) + " " + NodeContext.type(value);
  }
}
