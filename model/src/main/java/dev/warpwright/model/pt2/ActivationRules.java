package dev.warpwright.model.pt2;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.build.Activations;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.onnx.Proto.Attribute;
import java.util.List;
import java.util.Map;

/** Activation functions. */
final class ActivationRules {
  private ActivationRules() {}

  static void gelu(AtenCall call) {
    Attribute approximate = new Attribute.OfString(call.text("approximate", "none"));
    call.last("Gelu", List.of(call.tensor("self")), Map.of("approximate", approximate));
  }

  static void leakyRelu(AtenCall call) {
    withAlpha(call, "LeakyRelu", call.number("negative_slope", 0.01));
  }

  static void celu(AtenCall call) {
    withAlpha(call, "Celu", call.number("alpha", 1));
  }

  private static void withAlpha(AtenCall call, String op, double alpha) {
    call.last(op, List.of(call.tensor("self")), Map.of("alpha", AtenCall.of(alpha)));
  }

  static void elu(AtenCall call) {
    if (call.number("input_scale", 1) != 1) {
      throw call.error("input_scale must be 1");
    }
    double scale = call.number("scale", 1);
    double alpha = call.number("alpha", 1);
    if (scale == 1) {
      withAlpha(call, "Elu", alpha);
      return;
    }
    String x = call.tensor("self");
    String elu = call.step("Elu", List.of(x), Map.of("alpha", AtenCall.of(alpha)));
    call.last("Mul", elu, call.scalar(scale, call.dtype(x)));
  }

  /** The weight goes with dimension 1, which must be the last here. */
  static void prelu(AtenCall call) {
    String x = call.tensor("self");
    String weight = call.tensor("weight");
    boolean one = call.meta(weight).shape().stream().allMatch(new Dim.Fixed(1)::equals);
    if (!one && call.rank(x) != 2) {
      throw call.error("slopes for dimension 1, which is not the last, are not supported");
    }
    call.last("PRelu", x, call.cast(weight, call.dtype(x)));
  }

  static void softplus(AtenCall call) {
    String x = call.tensor("self");
    DType type = call.dtype(x);
    double beta = call.number("beta", 1);
    double threshold = call.number("threshold", 20);
    String scaled = beta == 1 ? x : call.step("Mul", x, call.scalar(beta, type));
    boolean always = threshold >= Activations.SOFTPLUS_IS_LINEAR;
    if (beta == 1 && always) {
      call.last("Softplus", x);
      return;
    }
    String curve = call.step("Softplus", scaled);
    if (always) {
      call.last("Div", curve, call.scalar(beta, type));
      return;
    }
    String unscaled = beta == 1 ? curve : call.step("Div", curve, call.scalar(beta, type));
    String beyond = call.step("Greater", scaled, call.scalar(threshold, type));
    call.last("Where", beyond, x, unscaled);
  }

  /** −softplus(−x). */
  static void logSigmoid(AtenCall call) {
    call.last("Neg", call.step("Softplus", call.step("Neg", call.tensor("self"))));
  }

  static void hardTanh(AtenCall call) {
    ArithmeticRules.bounded(
        call, call.tensor("self"), call.number("min_val", -1), call.number("max_val", 1));
  }

  /** The first half, times the sigmoid of the second. */
  static void gatedLinearUnit(AtenCall call) {
    String x = call.tensor("self");
    int axis = call.dimension(call.integer("dim", -1), call.rank(x));
    long half = call.size(x, axis) / 2;
    String first = call.translation().fresh(call.output() + "/first");
    String second = call.translation().fresh(call.output() + "/second");
    call.emit(
        "Split",
        List.of(x, call.vector(List.of(half, half))),
        Map.of("axis", AtenCall.of(axis)),
        List.of(first, second));
    call.last("Mul", first, call.step("Sigmoid", second));
  }

  /** Softmax and its logarithm. */
  static void softmax(AtenCall call, String op) {
    if (call.has("dtype") || call.flag("half_to_float", false)) {
      throw call.error("a type of its own is not supported");
    }
    String x = call.tensor("self");
    int axis = call.dimension(call.integer("dim", -1), call.rank(x));
    call.last(op, List.of(x), Map.of("axis", AtenCall.of(axis)));
  }
}
