package dev.warpwright.cli.hostile;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** ONNX graphs of operators that follow each other by chance: most are networks, some are not. */
final class OddGraphs {
  private static final List<String> UNARY =
      List.of(
          "Relu",
          "Sigmoid",
          "Tanh",
          "Sin",
          "Cos",
          "Exp",
          "Log",
          "Sqrt",
          "Abs",
          "Neg",
          "Erf",
          "Softplus",
          "HardSwish",
          "Elu",
          "LeakyRelu",
          "Gelu",
          "Reciprocal",
          "Floor",
          "Ceil",
          "Identity",
          "Softmax",
          "LogSoftmax",
          "Flatten",
          "Transpose",
          "ReduceSum",
          "ReduceMean",
          "ReduceMax",
          "Not",
          "Sign",
          "Round",
          "Selu",
          "Mish",
          "Squeeze",
          "Cast",
          "Dropout");
  private static final List<String> BINARY =
      List.of(
          "Add",
          "Sub",
          "Mul",
          "Div",
          "Pow",
          "MatMul",
          "Gemm",
          "Min",
          "Max",
          "PRelu",
          "Greater",
          "Less",
          "Equal",
          "Concat",
          "Reshape",
          "Gather",
          "Expand",
          "Slice",
          "Split",
          "Where",
          "Unsqueeze",
          "Mod",
          "LayerNormalization",
          "Clip");

  private OddGraphs() {}

  static byte[] make(Random random) {
    OnnxWriter onnx = new OnnxWriter();
    long features = random.nextInt(12) == 0 ? Odd.number(random) : 1 + random.nextInt(24);
    Object rows = random.nextInt(6) == 0 ? (Object) (long) random.nextInt(9) : "N";
    onnx.input("x", rows, features);
    List<String> values = new ArrayList<>(List.of("x"));
    long width = features;
    int nodes = random.nextInt(40) == 0 ? 120 : 1 + random.nextInt(9);
    for (int i = 0; i < nodes; i++) {
      String out = "t" + i;
      String from = random.nextInt(4) == 0 ? Odd.of(random, values) : values.getLast();
      switch (random.nextInt(5)) {
        case 0, 1 -> {
          long next = 1 + random.nextInt(20);
          boolean gemm = random.nextBoolean();
          long from1 = random.nextInt(15) == 0 ? 1 + random.nextInt(30) : clamped(width);
          onnx.constant("w" + i, List.of(from1, next), floats(random, (int) (from1 * next)));
          onnx.node(gemm ? "Gemm" : "MatMul", List.of(from, "w" + i), List.of(out));
          width = next;
        }
        case 2 -> {
          List<Long> shape =
              Odd.of(
                  random,
                  List.of(
                      List.<Long>of(),
                      List.of(clamped(width)),
                      List.of(1L),
                      List.of(1L, clamped(width)),
                      List.of(2L, 3L)));
          int count = (int) shape.stream().mapToLong(n -> n).reduce(1, (a, b) -> a * b);
          if (random.nextInt(3) == 0) {
            onnx.integers("c" + i, Odd.small(random), Odd.small(random));
          } else {
            onnx.constant("c" + i, shape, floats(random, count));
          }
          onnx.node(
              Odd.of(random, BINARY), List.of(from, "c" + i), List.of(out), attribute(random));
        }
        case 3 ->
            onnx.node(
                Odd.of(random, BINARY),
                List.of(from, Odd.of(random, values)),
                List.of(out),
                attribute(random));
        default -> onnx.node(Odd.of(random, UNARY), List.of(from), List.of(out), attribute(random));
      }
      values.add(out);
    }
    return onnx.output(values.getLast(), rows, "F").bytes();
  }

  private static byte[] attribute(Random random) {
    String name = Odd.of(random, List.of("axis", "alpha", "transB", "to", "keepdims", "epsilon"));
    return random.nextBoolean() && !name.equals("alpha")
        ? OnnxWriter.attribute(
            name, random.nextInt(4) == 0 ? Odd.number(random) : random.nextInt(4) - 1)
        : OnnxWriter.attribute(
            "alpha", Odd.of(random, List.of(0f, 1f, -1f, Float.NaN, 1e38f, Float.MIN_VALUE)));
  }

  /** An extent for which there is room. */
  private static Long clamped(long width) {
    return Math.clamp(width, 0L, 64L);
  }

  private static float[] floats(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    if (random.nextInt(20) == 0 && count > 0) {
      values[0] = Odd.of(random, List.of(Float.NaN, Float.POSITIVE_INFINITY, 1e38f, 1e-45f));
    }
    return values;
  }
}
