package dev.warpwright.model.onnx;

import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.RowReduce;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Pointwise;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The supported operators by name, those of the domain com.microsoft with its name before. */
final class Operators {
  static final Map<String, Operator> ALL = table();

  /** For other importers, whose linear layers may have inputs of any rank. */
  private static final Operator LINEAR = Operator.of(2, 3, Set.of(), RowRules::linear);

  /** For other importers too: the activations by their own names. */
  private static final Map<String, Operator> OWN =
      Stream.of(Activation.values()).collect(Collectors.toMap(Activation::text, Operators::unary));

  private Operators() {}

  /** How a node is imported, or null if its operator is not supported. */
  static @Nullable Operator find(Proto.Node node) {
    if (node.domain().equals(Proto.OWN_DOMAIN)) {
      return node.opType().equals("Linear") ? LINEAR : OWN.get(node.opType());
    }
    return ALL.get(node.domain().isEmpty() ? node.opType() : node.domain() + "." + node.opType());
  }

  private static Map<String, Operator> table() {
    Map<String, Operator> all = new TreeMap<>();
    arithmetic(all);
    activations(all);
    rows(all);
    shapes(all);
    return Collections.unmodifiableMap(all);
  }

  private static void arithmetic(Map<String, Operator> all) {
    unary(all, "Abs", ElementwiseOp.ABS);
    unary(all, "Ceil", ElementwiseOp.CEIL);
    unary(all, "Exp", ElementwiseOp.EXP);
    unary(all, "Floor", ElementwiseOp.FLOOR);
    unary(all, "Log", ElementwiseOp.LOG);
    unary(all, "Neg", ElementwiseOp.NEG);
    unary(all, "Not", ElementwiseOp.NOT);
    unary(all, "Reciprocal", ElementwiseOp.RECIPROCAL);
    unary(all, "Sign", ElementwiseOp.SIGN);
    unary(all, "Sqrt", ElementwiseOp.SQRT);
    binary(all, "Add", ElementwiseOp.ADD);
    binary(all, "And", ElementwiseOp.AND);
    binary(all, "Div", ElementwiseOp.DIV);
    binary(all, "Equal", ElementwiseOp.EQUAL);
    binary(all, "Greater", ElementwiseOp.GREATER);
    binary(all, "GreaterOrEqual", ElementwiseOp.GREATER_EQUAL);
    binary(all, "Less", ElementwiseOp.LESS);
    binary(all, "LessOrEqual", ElementwiseOp.LESS_EQUAL);
    binary(all, "Mul", ElementwiseOp.MUL);
    binary(all, "Or", ElementwiseOp.OR);
    binary(all, "Pow", ElementwiseOp.POW);
    binary(all, "Sub", ElementwiseOp.SUB);
    binary(all, "Xor", ElementwiseOp.XOR);
    variadic(all, "Max", ElementwiseOp.MAX);
    variadic(all, "Min", ElementwiseOp.MIN);
    variadic(all, "Sum", ElementwiseOp.ADD);
    all.put("Mean", Operator.of(1, 64, Set.of(), ElementwiseRules::mean));
    all.put(
        "Where",
        Operator.of(3, 3, Set.of(), n -> n.arithmetic().apply(ElementwiseOp.WHERE, n.all())));
    all.put("Clip", Operator.of(1, 3, Set.of("min", "max"), ElementwiseRules::clip));
  }

  private static void activations(Map<String, Operator> all) {
    for (Activation activation : Activation.values()) {
      if (activation.onnx() != null) {
        unary(all, activation.onnx(), activation);
      }
    }
    all.put(
        "Celu", one("alpha", n -> n.activations().celu(n.input(0), n.floatAttribute("alpha", 1))));
    all.put(
        "Elu", one("alpha", n -> n.activations().elu(n.input(0), n.floatAttribute("alpha", 1), 1)));
    all.put("Gelu", one("approximate", ElementwiseRules::gelu));
    all.put(
        "HardSigmoid", Operator.of(1, 1, Set.of("alpha", "beta"), ElementwiseRules::hardSigmoid));
    all.put("LeakyRelu", one("alpha", ElementwiseRules::leakyRelu));
    binary(all, "PRelu", ElementwiseOp.LEAKY_RELU);
    all.put("Selu", Operator.of(1, 1, Set.of("alpha", "gamma"), ElementwiseRules::selu));
    all.put(
        "Swish", one("alpha", n -> n.activations().silu(n.input(0), n.floatAttribute("alpha", 1))));
    all.put("ThresholdedRelu", one("alpha", ElementwiseRules::thresholdedRelu));
    all.put("com.microsoft.BiasGelu", Operator.of(2, 2, Set.of(), ElementwiseRules::biasGelu));
    all.put("com.microsoft.FastGelu", Operator.of(1, 2, Set.of(), ElementwiseRules::fastGelu));
    all.put("com.microsoft.QuickGelu", one("alpha", ElementwiseRules::quickGelu));
  }

  private static void rows(Map<String, Operator> all) {
    all.put("Gemm", Operator.of(2, 3, Set.of("alpha", "beta", "transA", "transB"), RowRules::gemm));
    all.put(
        "MatMul", Operator.of(2, 2, Set.of(), n -> n.products().matmul(n.input(0), n.input(1))));
    all.put("Softmax", one("axis", n -> n.rows().softmax(n.input(0), RowRules.softmaxAxis(n))));
    all.put(
        "LogSoftmax", one("axis", n -> n.rows().logSoftmax(n.input(0), RowRules.softmaxAxis(n))));
    all.put("Attention", new Operator(3, 6, AttentionRules.ATTRIBUTES, AttentionRules::attention));
    Set<String> norm = Set.of("axis", "epsilon", "stash_type");
    all.put("LayerNormalization", Operator.of(2, 3, norm, RowRules::layerNormalization));
    Operator rms = Operator.of(2, 2, norm, RowRules::rmsNormalization);
    all.put("RMSNormalization", rms);
    all.put("SimplifiedLayerNormalization", rms);
    all.put("com.microsoft.SimplifiedLayerNormalization", rms);
    all.put(
        "BatchNormalization",
        Operator.of(
            5, 5, Set.of("epsilon", "momentum", "training_mode"), RowRules::batchNormalization));
    all.put("LpNormalization", Operator.of(1, 1, Set.of("axis", "p"), RowRules::lpNormalization));
    reduction(all, "ReduceMax", n -> RowRules.reduce(n, RowReduce.Kind.MAX));
    reduction(all, "ReduceMean", n -> RowRules.reduce(n, RowReduce.Kind.MEAN));
    reduction(all, "ReduceMin", n -> RowRules.reduce(n, RowReduce.Kind.MIN));
    reduction(all, "ReduceSum", n -> RowRules.reduce(n, RowReduce.Kind.SUM));
    reduction(all, "ReduceL1", RowRules::reduceL1);
    reduction(all, "ReduceL2", RowRules::reduceL2);
    reduction(all, "ReduceLogSumExp", RowRules::reduceLogSumExp);
    reduction(all, "ReduceSumSquare", RowRules::reduceSumSquare);
  }

  private static void shapes(Map<String, Operator> all) {
    all.put("Cast", Operator.of(1, 1, Set.of("to", "saturate", "round_mode"), ShapeRules::cast));
    all.put("CastLike", Operator.of(2, 2, Set.of("saturate", "round_mode"), ShapeRules::castLike));
    all.put("Concat", Operator.of(1, 4096, Set.of("axis"), ShapeRules::concat));
    all.put(
        "Constant",
        Operator.of(
            0,
            0,
            Set.of("value", "value_float", "value_floats", "value_int", "value_ints"),
            ShapeRules::constant));
    all.put("ConstantOfShape", one("value", ShapeRules::constantOfShape));
    all.put("Dropout", Operator.of(1, 3, Set.of("ratio", "seed"), ShapeRules::dropout));
    all.put("Expand", Operator.of(2, 2, Set.of(), ShapeRules::expand));
    all.put("Flatten", one("axis", n -> n.shapes().flatten(n.input(0), n.intAttribute("axis", 1))));
    all.put("Gather", Operator.of(2, 2, Set.of("axis"), ShapeRules::gather));
    all.put("Identity", Operator.of(1, 1, Set.of(), n -> n.input(0)));
    all.put("Range", Operator.of(3, 3, Set.of(), ShapeRules::range));
    all.put("Reshape", Operator.of(2, 2, Set.of("allowzero"), ShapeRules::reshape));
    all.put("Shape", Operator.of(1, 1, Set.of("start", "end"), ShapeRules::shape));
    all.put("Slice", Operator.of(1, 5, Set.of("starts", "ends", "axes"), ShapeRules::slice));
    all.put("Split", new Operator(1, 2, Set.of("axis", "split", "num_outputs"), ShapeRules::split));
    all.put("Squeeze", Operator.of(1, 2, Set.of("axes"), ShapeRules::squeeze));
    all.put(
        "Transpose", one("perm", n -> n.shapes().transpose(n.input(0), n.intsAttribute("perm"))));
    all.put("Unsqueeze", Operator.of(1, 2, Set.of("axes"), ShapeRules::unsqueeze));
  }

  private static Operator one(String attribute, Operator.SingleRule rule) {
    return Operator.of(1, 1, Set.of(attribute), rule);
  }

  private static void unary(Map<String, Operator> all, String name, Pointwise op) {
    all.put(name, unary(op));
  }

  private static Operator unary(Pointwise op) {
    return Operator.of(1, 1, Set.of(), n -> n.arithmetic().unary(op, n.input(0)));
  }

  private static void binary(Map<String, Operator> all, String name, Pointwise op) {
    all.put(
        name, Operator.of(2, 2, Set.of(), n -> n.arithmetic().binary(op, n.input(0), n.input(1))));
  }

  private static void variadic(Map<String, Operator> all, String name, Pointwise op) {
    all.put(name, Operator.of(1, 64, Set.of(), n -> n.arithmetic().chain(op, n.all())));
  }

  private static void reduction(Map<String, Operator> all, String name, Operator.SingleRule rule) {
    Set<String> attributes = Set.of("axes", "keepdims", "noop_with_empty_axes");
    all.put(name, Operator.of(1, 2, attributes, rule));
  }
}
