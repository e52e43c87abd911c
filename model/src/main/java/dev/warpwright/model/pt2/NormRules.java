package dev.warpwright.model.pt2;

import dev.warpwright.ir.type.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Normalisations and reductions. */
final class NormRules {
  private NormRules() {}

  static void layerNorm(AtenCall call) {
    String x = call.tensor("input");
    List<Long> shape = call.integers("normalized_shape");
    List<String> inputs = new ArrayList<>();
    inputs.add(x);
    inputs.add(scale(call, shape, call.dtype(x)));
    if (call.has("bias")) {
      inputs.add(call.tensor("bias"));
    }
    double epsilon = call.number("eps", 1e-5);
    call.last(
        "LayerNormalization",
        inputs,
        Map.of("axis", AtenCall.of(-shape.size()), "epsilon", AtenCall.of(epsilon)));
  }

  private static String scale(AtenCall call, List<Long> shape, DType type) {
    return call.has("weight") ? call.tensor("weight") : call.filled(1, type, shape);
  }

  static void rmsNorm(AtenCall call) {
    String x = call.tensor("input");
    DType type = call.dtype(x);
    List<Long> shape = call.integers("normalized_shape");
    double epsilon = call.number("eps", machineEpsilon(call, type));
    call.last(
        "RMSNormalization",
        List.of(x, scale(call, shape, type)),
        Map.of("axis", AtenCall.of(-shape.size()), "epsilon", AtenCall.of(epsilon)));
  }

  private static double machineEpsilon(AtenCall call, DType type) {
    return switch (type) {
      case F64 -> 0x1p-52;
      case F32 -> 0x1p-23;
      case F16 -> 0x1p-10;
      case BF16 -> 0x1p-7;
      default -> throw call.error("the input has type " + type);
    };
  }

  static void batchNorm(AtenCall call) {
    if (call.flag("training", false)) {
      throw call.error("the model was exported in training mode; call model.eval() first");
    }
    String x = call.tensor("input");
    String mean = call.tensor("running_mean");
    List<Long> channels = List.of(call.size(mean, 0));
    DType type = call.dtype(x);
    call.last(
        "BatchNormalization",
        List.of(
            x,
            call.has("weight") ? call.tensor("weight") : call.filled(1, type, channels),
            call.has("bias") ? call.tensor("bias") : call.filled(0, type, channels),
            mean,
            call.tensor("running_var")),
        Map.of("epsilon", AtenCall.of(call.number("eps", 1e-5))));
  }

  /** A reduction over dimensions; other types are converted first. */
  static void reduce(AtenCall call, String op) {
    String x = call.cast(call.tensor("self"), call.outputType());
    call.last(
        op,
        List.of(x, axes(call)),
        Map.of("keepdims", AtenCall.of(call.flag("keepdim", false) ? 1 : 0)));
  }

  private static String axes(AtenCall call) {
    return call.vector(dimensions(call).stream().map(Integer::longValue).toList());
  }

  private static List<Integer> dimensions(AtenCall call) {
    if (!call.has("dim")) {
      throw call.error("reduces the rows too, which is not supported; give dim=-1");
    }
    int rank = call.rank(call.tensor("self"));
    return call.integers("dim").stream().map(dim -> call.dimension(dim, rank)).toList();
  }

  /** The variance, or its root. */
  static void variance(AtenCall call, boolean root) {
    String x = call.tensor("self");
    DType type = call.dtype(x);
    double correction = call.number("correction", call.flag("unbiased", true) ? 1 : 0);
    double count = 1;
    for (int dimension : dimensions(call)) {
      count *= call.size(x, dimension);
    }
    if (!(count > correction)) {
      throw call.error("is of " + (long) count + " elements, which is too few");
    }
    String axes = axes(call);
    String mean = call.step("ReduceMean", List.of(x, axes), Map.of("keepdims", AtenCall.of(1)));
    String centred = call.step("Sub", x, mean);
    String squares = call.step("Mul", centred, centred);
    long keep = call.flag("keepdim", false) ? 1 : 0;
    String variance =
        call.step("ReduceMean", List.of(squares, axes), Map.of("keepdims", AtenCall.of(keep)));
    String corrected =
        correction == 0
            ? variance
            : call.step("Mul", variance, call.scalar(count / (count - correction), type));
    call.last(root ? "Sqrt" : "Identity", corrected);
  }

  /** The root of the sum of squares. */
  static void vectorNorm(AtenCall call) {
    if (call.number("ord", 2) != 2) {
      throw call.error("only the norm of order 2 is supported");
    }
    String x = call.cast(call.tensor("self"), call.outputType());
    String squares = call.step("Mul", x, x);
    long keep = call.flag("keepdim", false) ? 1 : 0;
    String sum =
        call.step("ReduceSum", List.of(squares, axes(call)), Map.of("keepdims", AtenCall.of(keep)));
    call.last("Sqrt", sum);
  }
}
