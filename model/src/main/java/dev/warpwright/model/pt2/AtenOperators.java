package dev.warpwright.model.pt2;

import dev.warpwright.model.pt2.AtenOperator.Rule;
import dev.warpwright.workload.Activation;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The supported operators by name, without {@code torch.ops.}. */
final class AtenOperators {
  /** Operators whose results are tensors of their own, never views of their operands. */
  private static final Set<String> FRESH =
      Set.of(
          "linear",
          "addmm",
          "mm",
          "matmul",
          "layer_norm",
          "rms_norm",
          "batch_norm",
          "add",
          "sub",
          "mul",
          "div",
          "relu",
          "silu",
          "gelu",
          "tanh",
          "sigmoid");

  private static final Map<String, AtenOperator> ALL = table();

  private AtenOperators() {}

  /** The operator of this name, or null; {@code relu_} and the like are found as {@code relu}. */
  static @Nullable AtenOperator named(String target) {
    AtenOperator operator = ALL.get(target);
    return operator == null ? ALL.get(base(target)) : operator;
  }

  /** Whether an operator writes its result where its first operand was. */
  static boolean isInPlace(String target) {
    return !ALL.containsKey(target) && !base(target).equals(target);
  }

  /** Whether the results of an operator share their place with nothing else. */
  static boolean isFresh(String target) {
    String base = base(target);
    int begin = base.indexOf('.') + 1;
    int end = base.indexOf('.', begin);
    return base.startsWith("aten.") && end > 0 && FRESH.contains(base.substring(begin, end));
  }

  /** {@code aten.relu.default} for {@code aten.relu_.default}. */
  private static String base(String target) {
    return target.replaceFirst("^(aten\\.[a-z][a-z0-9_]*[a-z0-9])_\\.", "$1.");
  }

  /** The names of all operators, without their overloads. */
  static Set<String> names() {
    Set<String> names = new java.util.TreeSet<>();
    for (String target : ALL.keySet()) {
      names.add(target.substring(0, target.lastIndexOf('.')));
    }
    return names;
  }

  private static Map<String, AtenOperator> table() {
    Map<String, AtenOperator> all = new TreeMap<>();
    elementwise(all);
    activations(all);
    products(all);
    norms(all);
    layout(all);
    parts(all);
    return Collections.unmodifiableMap(all);
  }

  private static void elementwise(Map<String, AtenOperator> all) {
    Map<String, String> unary =
        Map.ofEntries(
            Map.entry("abs", "Abs"),
            Map.entry("ceil", "Ceil"),
            Map.entry("exp", "Exp"),
            Map.entry("floor", "Floor"),
            Map.entry("log", "Log"),
            Map.entry("neg", "Neg"),
            Map.entry("reciprocal", "Reciprocal"),
            Map.entry("sign", "Sign"),
            Map.entry("sqrt", "Sqrt"));
    unary.forEach(
        (aten, onnx) -> put(all, aten + ".default", c -> ArithmeticRules.unary(c, onnx), "self"));
    put(all, "square.default", ArithmeticRules::square, "self");
    put(all, "rsqrt.default", ArithmeticRules::reciprocalRoot, "self");
    put(all, "log1p.default", ArithmeticRules::logOfOneMore, "self");
    put(all, "expm1.default", ArithmeticRules::exponentialLessOne, "self");
    for (String overload : new String[] {".Tensor", ".Scalar"}) {
      put(all, "add" + overload, c -> ArithmeticRules.binary(c, "Add"), "self", "other", "alpha");
      put(all, "sub" + overload, c -> ArithmeticRules.binary(c, "Sub"), "self", "other", "alpha");
      put(all, "rsub" + overload, ArithmeticRules::reverseSub, "self", "other", "alpha");
      put(all, "mul" + overload, c -> ArithmeticRules.binary(c, "Mul"), "self", "other");
      for (String divide : new String[] {"div", "true_divide", "divide"}) {
        put(all, divide + overload, ArithmeticRules::divide, "self", "other");
        put(
            all,
            divide + overload + "_mode",
            ArithmeticRules::divide,
            "self",
            "other",
            "rounding_mode");
      }
      compare(all, "gt" + overload, "Greater");
      compare(all, "ge" + overload, "GreaterOrEqual");
      compare(all, "lt" + overload, "Less");
      compare(all, "le" + overload, "LessOrEqual");
      compare(all, "eq" + overload, "Equal");
      compare(all, "ne" + overload, "NotEqual");
      put(all, "masked_fill" + overload, ArithmeticRules::maskedFill, "self", "mask", "value");
      put(all, "lerp" + overload, ArithmeticRules::interpolate, "self", "end", "weight");
    }
    put(all, "floor_divide.default", ArithmeticRules::floorDivide, "self", "other");
    for (String overload : new String[] {"Tensor_Scalar", "Tensor_Tensor", "Scalar"}) {
      put(all, "pow." + overload, ArithmeticRules::power, "self", "exponent");
    }
    for (String overload : new String[] {"self", "ScalarOther", "ScalarSelf", "Scalar"}) {
      put(all, "where." + overload, ArithmeticRules::where, "condition", "self", "other");
    }
    put(all, "maximum.default", c -> ArithmeticRules.binary(c, "Max"), "self", "other");
    put(all, "minimum.default", c -> ArithmeticRules.binary(c, "Min"), "self", "other");
    put(all, "max.other", c -> ArithmeticRules.binary(c, "Max"), "self", "other");
    put(all, "min.other", c -> ArithmeticRules.binary(c, "Min"), "self", "other");
    put(all, "clamp.default", ArithmeticRules::clamp, "self", "min", "max");
    put(all, "clamp.Tensor", ArithmeticRules::clamp, "self", "min", "max");
    put(all, "clamp_min.default", ArithmeticRules::clamp, "self", "min");
    put(all, "clamp_max.default", ArithmeticRules::clamp, "self", "max");
    put(
        all,
        "addcmul.default",
        c -> ArithmeticRules.addCombined(c, "Mul"),
        "self",
        "tensor1",
        "tensor2",
        "value");
    put(
        all,
        "addcdiv.default",
        c -> ArithmeticRules.addCombined(c, "Div"),
        "self",
        "tensor1",
        "tensor2",
        "value");
    put(all, "logical_and.default", c -> ArithmeticRules.logic(c, "And"), "self", "other");
    put(all, "logical_or.default", c -> ArithmeticRules.logic(c, "Or"), "self", "other");
    put(all, "logical_xor.default", c -> ArithmeticRules.logic(c, "Xor"), "self", "other");
    put(all, "logical_not.default", c -> ArithmeticRules.logic(c, "Not"), "self");
  }

  private static void compare(Map<String, AtenOperator> all, String name, String onnx) {
    put(all, name, call -> ArithmeticRules.compare(call, onnx), "self", "other");
  }

  private static void activations(Map<String, AtenOperator> all) {
    for (Activation activation : Activation.values()) {
      put(all, activation.text() + ".default", c -> c.activation(activation), "self");
    }
    put(all, "gelu.default", ActivationRules::gelu, "self", "approximate");
    put(all, "leaky_relu.default", ActivationRules::leakyRelu, "self", "negative_slope");
    put(all, "elu.default", ActivationRules::elu, "self", "alpha", "scale", "input_scale");
    put(all, "celu.default", ActivationRules::celu, "self", "alpha");
    put(all, "prelu.default", ActivationRules::prelu, "self", "weight");
    put(all, "_prelu_kernel.default", ActivationRules::prelu, "self", "weight");
    put(all, "softplus.default", ActivationRules::softplus, "self", "beta", "threshold");
    put(all, "log_sigmoid.default", ActivationRules::logSigmoid, "self");
    put(all, "log_sigmoid_forward.default", ActivationRules::logSigmoid, "self");
    put(all, "hardtanh.default", ActivationRules::hardTanh, "self", "min_val", "max_val");
    put(all, "glu.default", ActivationRules::gatedLinearUnit, "self", "dim");
    put(all, "softmax.int", c -> ActivationRules.softmax(c, "Softmax"), "self", "dim", "dtype");
    put(
        all,
        "log_softmax.int",
        c -> ActivationRules.softmax(c, "LogSoftmax"),
        "self",
        "dim",
        "dtype");
    put(
        all,
        "_softmax.default",
        c -> ActivationRules.softmax(c, "Softmax"),
        "self",
        "dim",
        "half_to_float");
    put(
        all,
        "_log_softmax.default",
        c -> ActivationRules.softmax(c, "LogSoftmax"),
        "self",
        "dim",
        "half_to_float");
  }

  private static void products(Map<String, AtenOperator> all) {
    put(all, "linear.default", GemmRules::linear, "input", "weight", "bias");
    put(all, "matmul.default", c -> GemmRules.matmul(c, "self", "other"), "self", "other");
    put(all, "mm.default", c -> GemmRules.matmul(c, "self", "mat2"), "self", "mat2");
    put(all, "addmm.default", GemmRules::addMatmul, "self", "mat1", "mat2", "beta", "alpha");
  }

  private static void norms(Map<String, AtenOperator> all) {
    put(
        all,
        "layer_norm.default",
        NormRules::layerNorm,
        "input",
        "normalized_shape",
        "weight",
        "bias",
        "eps",
        "cudnn_enable");
    put(
        all,
        "native_layer_norm.default",
        NormRules::layerNorm,
        "input",
        "normalized_shape",
        "weight",
        "bias",
        "eps");
    put(
        all,
        "scaled_dot_product_attention.default",
        AttentionRule::scaledDotProduct,
        "query",
        "key",
        "value",
        "attn_mask",
        "dropout_p",
        "is_causal",
        "scale",
        "enable_gqa");
    put(all, "rms_norm.default", NormRules::rmsNorm, "input", "normalized_shape", "weight", "eps");
    put(
        all,
        "_fused_rms_norm.default",
        NormRules::rmsNorm,
        "input",
        "normalized_shape",
        "weight",
        "eps");
    put(
        all,
        "batch_norm.default",
        NormRules::batchNorm,
        "input",
        "weight",
        "bias",
        "running_mean",
        "running_var",
        "training",
        "momentum",
        "eps",
        "cudnn_enabled");
    put(
        all,
        "_native_batch_norm_legit_no_training.default",
        NormRules::batchNorm,
        "input",
        "weight",
        "bias",
        "running_mean",
        "running_var",
        "momentum",
        "eps");
    put(all, "mean.dim", c -> NormRules.reduce(c, "ReduceMean"), "self", "dim", "keepdim", "dtype");
    put(
        all,
        "sum.dim_IntList",
        c -> NormRules.reduce(c, "ReduceSum"),
        "self",
        "dim",
        "keepdim",
        "dtype");
    put(all, "amax.default", c -> NormRules.reduce(c, "ReduceMax"), "self", "dim", "keepdim");
    put(all, "amin.default", c -> NormRules.reduce(c, "ReduceMin"), "self", "dim", "keepdim");
    put(all, "max.dim", c -> NormRules.reduce(c, "ReduceMax"), "self", "dim", "keepdim");
    put(all, "min.dim", c -> NormRules.reduce(c, "ReduceMin"), "self", "dim", "keepdim");
    put(
        all,
        "var.correction",
        c -> NormRules.variance(c, false),
        "self",
        "dim",
        "correction",
        "keepdim");
    put(
        all,
        "std.correction",
        c -> NormRules.variance(c, true),
        "self",
        "dim",
        "correction",
        "keepdim");
    put(all, "var.dim", c -> NormRules.variance(c, false), "self", "dim", "unbiased", "keepdim");
    put(all, "std.dim", c -> NormRules.variance(c, true), "self", "dim", "unbiased", "keepdim");
    put(
        all,
        "linalg_vector_norm.default",
        NormRules::vectorNorm,
        "self",
        "ord",
        "dim",
        "keepdim",
        "dtype");
  }

  private static void layout(Map<String, AtenOperator> all) {
    for (String same :
        new String[] {"clone", "contiguous", "detach", "alias", "lift_fresh_copy", "lift_fresh"}) {
      put(all, same + ".default", c -> LayoutRules.identity(c, "self"), "self", "memory_format");
    }
    for (String dropout :
        new String[] {"dropout", "feature_dropout", "alpha_dropout", "native_dropout"}) {
      put(all, dropout + ".default", LayoutRules::dropout, "input", "p", "train");
    }
    for (String convert :
        new String[] {
          "_to_copy.default", "to.dtype", "to.dtype_layout", "to.device", "to.prim_Device"
        }) {
      put(
          all,
          convert,
          c -> ArithmeticRules.convert(c, "self"),
          "self",
          "dtype",
          "layout",
          "device",
          "pin_memory",
          "non_blocking",
          "copy",
          "memory_format");
    }
    put(
        all,
        "to.other",
        c -> ArithmeticRules.convert(c, "self"),
        "self",
        "other",
        "non_blocking",
        "copy",
        "memory_format");
    put(all, "type_as.default", c -> ArithmeticRules.convert(c, "self"), "self", "other");
    put(all, "view.default", c -> LayoutRules.reshape(c, "size"), "self", "size");
    put(all, "_unsafe_view.default", c -> LayoutRules.reshape(c, "size"), "self", "size");
    put(all, "reshape.default", c -> LayoutRules.reshape(c, "shape"), "self", "shape");
    put(all, "flatten.using_ints", LayoutRules::reshapeToOutput, "self", "start_dim", "end_dim");
    put(all, "unflatten.int", LayoutRules::reshapeToOutput, "self", "dim", "sizes");
    put(all, "unsqueeze.default", LayoutRules::unsqueeze, "self", "dim");
    put(all, "squeeze.default", LayoutRules::squeeze, "self");
    put(all, "squeeze.dim", LayoutRules::squeeze, "self", "dim");
    put(all, "squeeze.dims", LayoutRules::squeeze, "self", "dim");
    put(all, "expand.default", LayoutRules::expand, "self", "size", "implicit");
    put(all, "expand_as.default", LayoutRules::expand, "self", "other");
    put(all, "t.default", LayoutRules::transposeAll, "self");
    put(all, "numpy_T.default", LayoutRules::transposeAll, "self");
    put(all, "transpose.int", LayoutRules::transpose, "self", "dim0", "dim1");
    put(all, "permute.default", LayoutRules::permute, "self", "dims");
  }

  private static void parts(Map<String, AtenOperator> all) {
    put(all, "cat.default", PartRules::concat, "tensors", "dim");
    put(all, "concat.default", PartRules::concat, "tensors", "dim");
    put(all, "stack.default", PartRules::stack, "tensors", "dim");
    put(all, "split.Tensor", PartRules::split, "self", "split_size", "dim");
    put(all, "split_with_sizes.default", PartRules::splitWithSizes, "self", "split_sizes", "dim");
    put(all, "chunk.default", PartRules::chunk, "self", "chunks", "dim");
    put(all, "unbind.int", PartRules::unbind, "self", "dim");
    put(all, "select.int", PartRules::select, "self", "dim", "index");
    put(all, "index_select.default", PartRules::indexSelect, "self", "dim", "index");
    put(all, "slice.Tensor", PartRules::slice, "self", "dim", "start", "end", "step");
    put(all, "narrow.default", PartRules::narrow, "self", "dim", "start", "length");
    put(
        all,
        "scalar_tensor.default",
        PartRules::scalarTensor,
        "s",
        "dtype",
        "layout",
        "device",
        "pin_memory");
    put(
        all,
        "full.default",
        PartRules::full,
        "size",
        "fill_value",
        "dtype",
        "layout",
        "device",
        "pin_memory");
  }

  private static void put(
      Map<String, AtenOperator> all, String name, Rule rule, String... arguments) {
    all.put("aten." + name, new AtenOperator(Set.of(arguments), rule));
  }
}
