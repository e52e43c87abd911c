package dev.warpwright.model.onnx;

import dev.warpwright.model.build.Term;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.RowReduce;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Import of products, reductions and normalisation. */
final class RowRules {
  /** From here on softmax is over one axis; before, over all from the axis on. */
  private static final long SOFTMAX_OF_ONE_AXIS = 13;

  private RowRules() {}

  /** Rows of any rank times a matrix [outputs, inputs], and a bias if there is one. */
  static Term linear(NodeContext node) {
    return node.products().linear(node.input(0), node.input(1), node.optional(2));
  }

  static Term gemm(NodeContext node) {
    return node.products()
        .gemm(
            node.input(0),
            node.input(1),
            node.optional(2),
            node.floatAttribute("alpha", 1),
            node.floatAttribute("beta", 1),
            node.intAttribute("transA", 0) != 0,
            node.intAttribute("transB", 0) != 0);
  }

  static long softmaxAxis(NodeContext node) {
    boolean old = node.opset() < SOFTMAX_OF_ONE_AXIS;
    long axis = node.intAttribute("axis", old ? 1 : -1);
    int rank = node.shapes().sizes(node.input(0)).sizes().size();
    if (old && node.shapes().axis(axis, rank) != rank - 1) {
      throw node.error("before version 13 only the last axis is supported");
    }
    return axis;
  }

  static Term layerNormalization(NodeContext node) {
    checkStash(node);
    return node.rows()
        .layerNorm(
            node.input(0),
            node.intAttribute("axis", -1),
            node.input(1),
            node.optional(2),
            node.floatAttribute("epsilon", 1e-5f));
  }

  static Term rmsNormalization(NodeContext node) {
    checkStash(node);
    return node.rows()
        .rmsNorm(
            node.input(0),
            node.intAttribute("axis", -1),
            node.input(1),
            node.floatAttribute("epsilon", 1e-5f));
  }

  private static void checkStash(NodeContext node) {
    if (node.intAttribute("stash_type", 1) != 1) {
      throw node.error("only stash_type=1 is supported");
    }
  }

  static Term batchNormalization(NodeContext node) {
    if (node.intAttribute("training_mode", 0) != 0) {
      throw node.error("the model was exported in training mode; call model.eval() first");
    }
    return node.rows()
        .batchNorm(
            node.input(0),
            node.input(1),
            node.input(2),
            node.input(3),
            node.input(4),
            node.floatAttribute("epsilon", 1e-5f));
  }

  static Term lpNormalization(NodeContext node) {
    List<Long> axis = List.of(node.intAttribute("axis", -1));
    long p = node.intAttribute("p", 2);
    if (p != 1 && p != 2) {
      throw node.error("p must be 1 or 2");
    }
    Term x = node.input(0);
    Term norm =
        p == 2
            ? node.rows().norm2(x, axis, true)
            : node.rows()
                .reduce(
                    RowReduce.Kind.SUM, node.arithmetic().unary(ElementwiseOp.ABS, x), axis, true);
    return node.arithmetic().binary(ElementwiseOp.DIV, x, norm);
  }

  static Term reduce(NodeContext node, RowReduce.Kind kind) {
    List<Long> axes = reduced(node);
    return axes == null
        ? node.input(0)
        : node.rows().reduce(kind, node.input(0), axes, keeps(node));
  }

  static Term reduceL1(NodeContext node) {
    Term sizes = node.arithmetic().unary(ElementwiseOp.ABS, node.input(0));
    return sum(node, sizes);
  }

  static Term reduceL2(NodeContext node) {
    return node.arithmetic().unary(ElementwiseOp.SQRT, reduceSumSquare(node));
  }

  static Term reduceSumSquare(NodeContext node) {
    Term x = node.input(0);
    return sum(node, node.arithmetic().binary(ElementwiseOp.MUL, x, x));
  }

  static Term reduceLogSumExp(NodeContext node) {
    List<Long> axes = reduced(node);
    return axes == null ? node.input(0) : node.rows().logSumExp(node.input(0), axes, keeps(node));
  }

  private static Term sum(NodeContext node, Term x) {
    List<Long> axes = reduced(node);
    return axes == null ? x : node.rows().reduce(RowReduce.Kind.SUM, x, axes, keeps(node));
  }

  /** The axes to reduce over, none for all of them; null if nothing is to be reduced. */
  private static @Nullable List<Long> reduced(NodeContext node) {
    List<Long> axes = node.axes(1);
    boolean none = axes == null || axes.isEmpty();
    if (none && node.intAttribute("noop_with_empty_axes", 0) != 0) {
      return null;
    }
    return axes == null ? List.of() : axes;
  }

  private static boolean keeps(NodeContext node) {
    return node.intAttribute("keepdims", 1) != 0;
  }
}
