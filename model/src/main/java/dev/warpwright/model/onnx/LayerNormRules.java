package dev.warpwright.model.onnx;

import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.LayerNorm;
import dev.warpwright.model.graph.Tensor;
import dev.warpwright.model.graph.Value;
import dev.warpwright.model.onnx.Term.Step;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Import of layer normalisation, as one operator or spelled out in primitive ones. */
final class LayerNormRules {
  private LayerNormRules() {}

  static Term layerNormalization(NodeContext node) {
    Value x = node.value(0);
    checkLastAxis(node, x, node.intAttribute("axis", -1));
    if (node.intAttribute("stash_type", 1) != 1) {
      throw node.error("only stash_type=1 is supported");
    }
    float epsilon = node.floatAttribute("epsilon", 1e-5f);
    Tensor scale = LinearRules.featureVector(node, node.constant(1), x);
    Tensor bias = node.has(2) ? LinearRules.featureVector(node, node.constant(2), x) : null;
    return normalize(node, x, scale, bias, epsilon);
  }

  static Term reduceMean(NodeContext node) {
    Term term = node.input(0);
    Value x =
        switch (term) {
          case Term.Computed(Value value) -> value;
          case Term.Statistic(Step step, Value value, double e) when step == Step.SQUARED -> value;
          case Term.Statistic statistic -> throw node.statisticError();
          case Term.Constant constant -> throw node.error("the input is a constant");
        };
    List<Long> axes = node.intsAttribute("axes");
    if (axes == null && node.has(1)) {
      Tensor tensor = node.constant(1);
      if (!tensor.dtype().isInt() || tensor.count() != 1) {
        throw node.error("axes must be one integer, not " + NodeContext.type(tensor));
      }
      axes = List.of(tensor.longAt(0));
    }
    if (axes == null || axes.size() != 1) {
      throw node.error("only a mean over the last axis is supported");
    }
    checkLastAxis(node, x, axes.getFirst());
    if (node.intAttribute("keepdims", 1) != 1) {
      throw node.error("only keepdims=1 is supported");
    }
    Step step = term instanceof Term.Computed ? Step.MEAN : Step.VARIANCE;
    return new Term.Statistic(step, x, 0);
  }

  /** A unary operator on a step. */
  static Term unary(NodeContext node, ElementwiseOp op, Term.Statistic a) {
    if (op == ElementwiseOp.SQRT && a.step() == Step.SHIFTED) {
      return new Term.Statistic(Step.DEVIATION, a.of(), a.epsilon());
    }
    if (op == ElementwiseOp.RECIPROCAL && a.step() == Step.DEVIATION) {
      return new Term.Statistic(Step.INVERSE, a.of(), a.epsilon());
    }
    throw node.statisticError();
  }

  /** A binary operator of which at least one operand is a step. */
  static Term binary(NodeContext node, ElementwiseOp op, Term a, Term b) {
    Term result = combine(node, op, a, b);
    if (result == null && (op == ElementwiseOp.ADD || op == ElementwiseOp.MUL)) {
      result = combine(node, op, b, a);
    }
    if (result == null) {
      throw node.statisticError();
    }
    return result;
  }

  private static @Nullable Term combine(NodeContext node, ElementwiseOp op, Term a, Term b) {
    return switch (op) {
      case SUB ->
          a instanceof Term.Computed(Value x) && isStep(b, Step.MEAN, x)
              ? new Term.Statistic(Step.CENTERED, x, 0)
              : null;
      case POW ->
          a instanceof Term.Statistic(Step step, Value x, double e)
                  && step == Step.CENTERED
                  && isScalar(b)
                  && scalar(b) == 2
              ? new Term.Statistic(Step.SQUARED, x, 0)
              : null;
      case ADD ->
          a instanceof Term.Statistic(Step step, Value x, double e)
                  && step == Step.VARIANCE
                  && isScalar(b)
                  && scalar(b) >= 0
              ? new Term.Statistic(Step.SHIFTED, x, scalar(b))
              : null;
      case MUL -> {
        if (!(a instanceof Term.Statistic(Step step, Value x, double e)) || step != Step.CENTERED) {
          yield null;
        }
        if (isStep(b, Step.CENTERED, x)) {
          yield new Term.Statistic(Step.SQUARED, x, 0);
        }
        yield isStep(b, Step.INVERSE, x)
            ? normalize(node, x, null, null, ((Term.Statistic) b).epsilon())
            : null;
      }
      case DIV ->
          a instanceof Term.Statistic(Step step, Value x, double e)
                  && step == Step.CENTERED
                  && isStep(b, Step.DEVIATION, x)
              ? normalize(node, x, null, null, ((Term.Statistic) b).epsilon())
              : null;
      default -> null;
    };
  }

  private static Term normalize(
      NodeContext node, Value x, @Nullable Tensor scale, @Nullable Tensor bias, double epsilon) {
    if (!(epsilon >= 0 && epsilon < Double.POSITIVE_INFINITY)) {
      throw node.error("epsilon " + epsilon + " must be a small positive number");
    }
    Value output = node.result(x, x.features());
    return node.emit(new LayerNorm(output, x, scale, bias, epsilon, node.name()));
  }

  private static boolean isStep(Term term, Step step, Value of) {
    return term instanceof Term.Statistic statistic
        && statistic.step() == step
        && statistic.of() == of;
  }

  private static boolean isScalar(Term term) {
    return term instanceof Term.Constant(Tensor tensor) && tensor.count() == 1;
  }

  private static double scalar(Term term) {
    return ((Term.Constant) term).tensor().doubleAt(0);
  }

  private static void checkLastAxis(NodeContext node, Value x, long axis) {
    if (axis != -1 && axis != x.leading().size()) {
      throw node.error("axis " + axis + " is not the last of " + NodeContext.type(x));
    }
  }
}
