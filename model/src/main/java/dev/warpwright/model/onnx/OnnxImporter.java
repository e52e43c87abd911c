package dev.warpwright.model.onnx;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.build.GraphBuilder;
import dev.warpwright.model.build.RowSplit;
import dev.warpwright.model.build.Term;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Graph;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns an ONNX model into a {@link Graph}, operator by operator in the order of the file. Weights
 * stay where they lie in the bytes, except those that must be transposed.
 */
public final class OnnxImporter {
  /** Broadcasting and the operators used here mean the same from 7 on. */
  private static final int MIN_OPSET = 7;

  /** That of ONNX 1.22. */
  private static final int MAX_OPSET = 27;

  private final Proto.Graph proto;
  private final GraphBuilder builder;
  private final long opset;
  private final Map<String, Term> terms = new HashMap<>();

  private OnnxImporter(String file, Proto.Model model, long fileSize, int maxRowDims) {
    this.proto = model.graph();
    this.opset = model.opsets().getOrDefault("", 0L);
    this.builder = new GraphBuilder(Names.printable(file), fileSize, maxRowDims);
  }

  /**
   * Imports a model.
   *
   * @param file the name of the file in messages
   * @param bytes the whole file; must stay accessible as long as the graph is used
   * @throws UserError if the bytes are no valid ONNX model, or use something that is not supported
   */
  public static Graph importModel(String file, MemorySegment bytes) {
    return importModel(file, bytes, null);
  }

  /**
   * As {@link #importModel(String, MemorySegment)}, with weights in files beside the model.
   *
   * @param folder where these files are, or null if there are none
   */
  public static Graph importModel(String file, MemorySegment bytes, @Nullable Path folder) {
    ExternalData external = new ExternalData(file, folder);
    Proto.Model model = ProtoParser.parse(file, bytes, external);
    return importModel(file, model, bytes.byteSize() + external.size());
  }

  /**
   * Imports a model that is read already, or made from another format.
   *
   * @param fileSize in bytes; bounds what constants may be computed
   */
  public static Graph importModel(String file, Proto.Model model, long fileSize) {
    checkOpset(file, model);
    int rank = 1;
    for (Proto.ValueInfo info : model.graph().inputs()) {
      rank = Math.max(rank, info.shape() == null ? 1 : info.shape().size());
    }
    return RowSplit.search(rank, dims -> new OnnxImporter(file, model, fileSize, dims).run());
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
              Locale.ROOT,
              "%s: operator set version %d is not supported; export with opset_version %d to %d",
              Names.printable(file),
              version,
              MIN_OPSET,
              MAX_OPSET));
    }
  }

  private Graph run() {
    Set<String> constants = new HashSet<>();
    for (ConstantTensor tensor : proto.initializers()) {
      define(tensor.name(), new Term.Constant(tensor), "an initializer");
      constants.add(tensor.name());
    }
    boolean hasInput = false;
    for (Proto.ValueInfo info : proto.inputs()) {
      // until IR version 3, initializers had to be listed as inputs too
      if (!constants.contains(info.name())) {
        define(info.name(), input(info), "a graph input");
        hasInput = true;
      }
    }
    if (!hasInput) {
      throw builder.error("the model has no input");
    }
    proto.nodes().forEach(this::lower);
    return builder.finish(proto.name(), outputs());
  }

  private void define(String name, Term term, String what) {
    if (name.isEmpty()) {
      throw builder.error(what + " has no name");
    }
    if (terms.put(name, term) != null) {
      throw builder.error(what + " defines the name " + Names.quote(name) + " a second time");
    }
  }

  private Term input(Proto.ValueInfo info) {
    String what = "input " + Names.quote(info.name());
    DType dtype = OnnxType.dtype(info.elementType());
    if (dtype == null || !dtype.isFloat()) {
      throw builder.error(
          what
              + " has type "
              + OnnxType.name(info.elementType())
              + "; supported: float32, float16, bfloat16, float64");
    }
    List<Dim> shape = info.shape();
    if (shape == null || shape.isEmpty()) {
      throw builder.error(what + " has no declared shape, or is a scalar; it needs features");
    }
    return builder.input(info.name(), dtype, shape);
  }

  private void lower(Proto.Node node) {
    Operator operator = Operators.find(node);
    builder.at("", "", "");
    if (operator == null) {
      String type = node.domain().isEmpty() ? node.opType() : node.domain() + "." + node.opType();
      throw builder.error(
          node.label()
              + " has unsupported operator "
              + Names.quote(type)
              + "; supported: "
              + String.join(", ", Operators.ALL.keySet()));
    }
    if (node.outputs().isEmpty() || node.outputs().getFirst().isEmpty()) {
      throw builder.error(node.label() + " has no output");
    }
    NodeContext context = new NodeContext(builder, node, inputs(node), opset);
    String result = node.outputs().getFirst();
    builder.at(context.where(), node.name().isEmpty() ? result : node.name(), result);
    int count = node.inputs().size();
    if (count < operator.minInputs() || count > operator.maxInputs()) {
      throw context.error(
          String.format(
              Locale.ROOT,
              "has %d inputs instead of %d to %d",
              count,
              operator.minInputs(),
              operator.maxInputs()));
    }
    for (String attribute : node.attributes().keySet()) {
      if (!operator.attributes().contains(attribute)) {
        throw context.error("attribute " + Names.quote(attribute) + " is not supported");
      }
    }
    // further outputs stay undefined, so that a node that uses one is refused with its name
    List<Term> results = operator.rule().lower(context);
    builder.at("", "", "");
    for (int i = 0; i < results.size(); i++) {
      if (i == 0 || !node.outputs().get(i).isEmpty()) {
        define(node.outputs().get(i), results.get(i), node.label());
      }
    }
  }

  private List<@Nullable Term> inputs(Proto.Node node) {
    List<@Nullable Term> terms = new ArrayList<>();
    for (String name : node.inputs()) {
      Term term = name.isEmpty() ? null : this.terms.get(name);
      if (term == null && !name.isEmpty()) {
        throw builder.error(node.label() + " reads " + Names.quote(name) + ", " + whyUnknown(name));
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

  private Map<String, Term.Computed> outputs() {
    Map<String, Term.Computed> outputs = new LinkedHashMap<>();
    if (proto.outputs().isEmpty()) {
      throw builder.error("the model has no output");
    }
    for (Proto.ValueInfo info : proto.outputs()) {
      String what = "output " + Names.quote(info.name());
      Term.Computed computed =
          switch (terms.get(info.name())) {
            case null -> throw builder.error(what + " is computed by no node");
            case Term.Constant constant -> throw builder.error(what + " is a constant");
            case Term.Sizes sizes -> throw builder.error(what + " is the size of a dimension");
            case Term.Computed term -> term;
          };
      if (outputs.put(info.name(), computed) != null) {
        throw builder.error(what + " is listed twice");
      }
      checkDeclared(what, info, computed);
    }
    return outputs;
  }

  private void checkDeclared(String what, Proto.ValueInfo info, Term.Computed value) {
    boolean typeFits =
        info.elementType() == 0 || OnnxType.dtype(info.elementType()) == value.dtype();
    List<Dim> shape = info.shape();
    boolean shapeFits = shape == null || shape.size() == value.rank();
    for (int d = value.outer().size(); shape != null && shapeFits && d < value.rank(); d++) {
      shapeFits = shape.get(d) instanceof Dim.Symbolic || shape.get(d).equals(value.dims().get(d));
    }
    if (!typeFits || !shapeFits) {
      throw builder.error(
          what
              + " is declared as "
              + OnnxType.name(info.elementType())
              + Names.printable(String.valueOf(shape))
              + ", but the nodes compute "
              + value.typeText());
    }
  }
}
