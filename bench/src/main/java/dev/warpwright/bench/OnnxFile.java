package dev.warpwright.bench;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes the ONNX files that the repository has no model of. Numbers are fields of onnx.proto. */
final class OnnxFile {
  private static final int FLOAT = 1;
  private static final int INT_ATTRIBUTE = 2;

  private OnnxFile() {}

  /**
   * Linear layers as PyTorch exports them (Gemm with a transposed weight), with ReLU between.
   *
   * @param weights of each layer, [out, in] row-major
   * @param biases of each layer
   */
  static byte[] mlp(int[] widths, List<float[]> weights, List<float[]> biases) {
    Protobuf graph = new Protobuf();
    String last = "x";
    for (int l = 0; l < weights.size(); l++) {
      boolean hidden = l < weights.size() - 1;
      String sum = hidden ? "s" + l : "y";
      Protobuf transposed = new Protobuf().text(1, "transB").number(3, 1).number(20, INT_ATTRIBUTE);
      graph.message(1, node("Gemm", sum, last, "w" + l, "b" + l).message(5, transposed));
      if (hidden) {
        last = "h" + l;
        graph.message(1, node("Relu", last, sum));
      }
    }
    graph.text(2, "mlp");
    for (int l = 0; l < weights.size(); l++) {
      graph.message(5, constant("w" + l, weights.get(l), widths[l + 1], widths[l]));
      graph.message(5, constant("b" + l, biases.get(l), widths[l + 1]));
    }
    graph.message(11, value("x", "batch", widths[0]));
    graph.message(12, value("y", "batch", widths[widths.length - 1]));
    return model(graph);
  }

  /** A product of two inputs. */
  static byte[] matmul(int m, int n, int k) {
    Protobuf graph = new Protobuf();
    graph.message(1, node("MatMul", "c", "a", "b")).text(2, "matmul");
    graph.message(11, value("a", null, m, k)).message(11, value("b", null, k, n));
    graph.message(12, value("c", null, m, n));
    return model(graph);
  }

  private static byte[] model(Protobuf graph) {
    Protobuf opset = new Protobuf().text(1, "").number(2, 17);
    return new Protobuf().number(1, 8).message(7, graph).message(8, opset).toBytes();
  }

  private static Protobuf node(String operator, String output, String... inputs) {
    Protobuf node = new Protobuf();
    for (String input : inputs) {
      node.text(1, input);
    }
    return node.text(2, output).text(3, output).text(4, operator);
  }

  private static Protobuf constant(String name, float[] values, int... shape) {
    Protobuf tensor = new Protobuf();
    for (int extent : shape) {
      tensor.number(1, extent);
    }
    return tensor.number(2, FLOAT).text(8, name).floats(9, values);
  }

  /**
   * A graph's input or output.
   *
   * @param rows name of a symbolic first dimension, or null
   */
  private static Protobuf value(String name, @Nullable String rows, int... extents) {
    List<Protobuf> dimensions = new ArrayList<>();
    if (rows != null) {
      dimensions.add(new Protobuf().text(2, rows));
    }
    for (int extent : extents) {
      dimensions.add(new Protobuf().number(1, extent));
    }
    Protobuf shape = new Protobuf();
    dimensions.forEach(d -> shape.message(1, d));
    Protobuf tensor = new Protobuf().number(1, FLOAT).message(2, shape);
    return new Protobuf().text(1, name).message(2, new Protobuf().message(1, tensor));
  }
}
