package dev.warpwright.model.onnx;

import dev.warpwright.model.graph.ElementwiseOp;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The supported operators of the standard domain, by name. */
final class Operators {
  static final Map<String, Operator> ALL = table();

  /** For other importers, whose linear layers may have inputs of any rank. */
  private static final Operator LINEAR = new Operator(2, 3, Set.of(), LinearRules::linear);

  private Operators() {}

  /** How a node is imported, or null if its operator is not supported. */
  static @Nullable Operator find(Proto.Node node) {
    if (node.domain().equals(Proto.LINEAR_DOMAIN) && node.opType().equals("Linear")) {
      return LINEAR;
    }
    return node.domain().isEmpty() ? ALL.get(node.opType()) : null;
  }

  private static Map<String, Operator> table() {
    Map<String, Operator> all = new TreeMap<>();
    unary(all, "Abs", ElementwiseOp.ABS);
    unary(all, "Cos", ElementwiseOp.COS);
    unary(all, "Erf", ElementwiseOp.ERF);
    unary(all, "Exp", ElementwiseOp.EXP);
    unary(all, "Log", ElementwiseOp.LOG);
    unary(all, "Neg", ElementwiseOp.NEG);
    unary(all, "Reciprocal", ElementwiseOp.RECIPROCAL);
    unary(all, "Relu", ElementwiseOp.RELU);
    unary(all, "Sigmoid", ElementwiseOp.SIGMOID);
    unary(all, "Sin", ElementwiseOp.SIN);
    unary(all, "Sqrt", ElementwiseOp.SQRT);
    unary(all, "Tanh", ElementwiseOp.TANH);
    all.put("Gelu", new Operator(1, 1, Set.of("approximate"), ElementwiseRules::gelu));
    binary(all, "Add", ElementwiseOp.ADD);
    binary(all, "Sub", ElementwiseOp.SUB);
    binary(all, "Mul", ElementwiseOp.MUL);
    binary(all, "Div", ElementwiseOp.DIV);
    binary(all, "Pow", ElementwiseOp.POW);
    variadic(all, "Max", ElementwiseOp.MAX);
    variadic(all, "Min", ElementwiseOp.MIN);
    all.put(
        "Gemm", new Operator(2, 3, Set.of("alpha", "beta", "transA", "transB"), LinearRules::gemm));
    all.put("MatMul", new Operator(2, 2, Set.of(), LinearRules::matMul));
    all.put(
        "LayerNormalization",
        new Operator(
            2, 3, Set.of("axis", "epsilon", "stash_type"), LayerNormRules::layerNormalization));
    all.put(
        "ReduceMean",
        new Operator(
            1, 2, Set.of("axes", "keepdims", "noop_with_empty_axes"), LayerNormRules::reduceMean));
    all.put("Cast", new Operator(1, 1, Set.of("to", "saturate"), ShapeRules::cast));
    all.put(
        "Constant",
        new Operator(
            0,
            0,
            Set.of("value", "value_float", "value_floats", "value_int", "value_ints"),
            ShapeRules::constant));
    all.put("Dropout", new Operator(1, 3, Set.of("ratio", "seed"), ShapeRules::dropout));
    all.put("Flatten", new Operator(1, 1, Set.of("axis"), ShapeRules::flatten));
    all.put("Identity", new Operator(1, 1, Set.of(), ShapeRules::identity));
    all.put("Reshape", new Operator(2, 2, Set.of("allowzero"), ShapeRules::reshape));
    all.put("Transpose", new Operator(1, 1, Set.of("perm"), ShapeRules::transpose));
    return Collections.unmodifiableMap(all);
  }

  private static void unary(Map<String, Operator> all, String name, ElementwiseOp op) {
    all.put(name, new Operator(1, 1, Set.of(), node -> ElementwiseRules.unary(node, op)));
  }

  private static void binary(Map<String, Operator> all, String name, ElementwiseOp op) {
    all.put(name, new Operator(2, 2, Set.of(), node -> ElementwiseRules.binary(node, op)));
  }

  private static void variadic(Map<String, Operator> all, String name, ElementwiseOp op) {
    all.put(name, new Operator(1, 64, Set.of(), node -> ElementwiseRules.variadic(node, op)));
  }
}
