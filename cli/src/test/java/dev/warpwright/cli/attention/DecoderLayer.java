package dev.warpwright.cli.attention;

import dev.warpwright.cli.hostile.OnnxWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A decoder layer as one step of decoding has it, in ONNX and in plain loops: RMS norm, projections
 * of queries, keys and values, rotary embedding spelled out, the cache appended to, attention of
 * grouped queries, its projection and residual, RMS norm, SwiGLU, and residual.
 */
final class DecoderLayer {
  static final int MODEL = 24;
  static final int HEADS = 4;
  static final int KV_HEADS = 2;
  static final int SIZE = 8;
  static final int HIDDEN = 40;
  private static final float EPSILON = 1e-5f;

  /** Keys of the cache. */
  private final int past;

  private final float[] norm1;
  private final float[] norm2;
  private final float[] wq;
  private final float[] wk;
  private final float[] wv;
  private final float[] wo;
  private final float[] gate;
  private final float[] up;
  private final float[] down;

  DecoderLayer(int past, long seed) {
    this.past = past;
    Random random = new Random(seed);
    norm1 = random(random, MODEL, 1);
    norm2 = random(random, MODEL, 1);
    wq = weight(random, MODEL, HEADS * SIZE);
    wk = weight(random, MODEL, KV_HEADS * SIZE);
    wv = weight(random, MODEL, KV_HEADS * SIZE);
    wo = weight(random, HEADS * SIZE, MODEL);
    gate = weight(random, MODEL, HIDDEN);
    up = weight(random, MODEL, HIDDEN);
    down = weight(random, HIDDEN, MODEL);
  }

  private static float[] weight(Random random, int k, int n) {
    return random(random, k * n, 2 / Math.sqrt(k));
  }

  static float[] random(Random random, int count, double factor) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) (random.nextGaussian() * factor);
    }
    return values;
  }

  /** The rows' inputs: x, cosines, sines, past keys and values. */
  List<float[]> inputs(int rows, long seed) {
    Random random = new Random(seed);
    float[] cos = new float[rows * SIZE];
    float[] sin = new float[rows * SIZE];
    for (int i = 0; i < cos.length; i++) {
      double angle = (i / SIZE + 3) * Math.pow(100, -2.0 * (i % (SIZE / 2)) / SIZE);
      cos[i] = (float) Math.cos(angle);
      sin[i] = (float) Math.sin(angle);
    }
    int cache = rows * KV_HEADS * past * SIZE;
    return List.of(
        random(random, rows * MODEL, 1),
        cos,
        sin,
        random(random, cache, 2),
        random(random, cache, 1));
  }

  /**
   * The model's file.
   *
   * @param operator whether attention appends to the cache by itself, from flat projections; else
   *     the cache is concatenated to before it
   */
  byte[] onnx(boolean operator) {
    OnnxWriter onnx = new OnnxWriter();
    onnx.input("x", "N", 1L, (long) MODEL)
        .input("cos", "N", 1L, (long) SIZE)
        .input("sin", "N", 1L, (long) SIZE)
        .input("past_k", "N", (long) KV_HEADS, (long) past, (long) SIZE)
        .input("past_v", "N", (long) KV_HEADS, (long) past, (long) SIZE);
    onnx.constant("norm1", List.of((long) MODEL), norm1)
        .constant("norm2", List.of((long) MODEL), norm2);
    constant(onnx, "wq", wq, MODEL);
    constant(onnx, "wk", wk, MODEL);
    constant(onnx, "wv", wv, MODEL);
    constant(onnx, "wo", wo, HEADS * SIZE);
    constant(onnx, "gate", gate, MODEL);
    constant(onnx, "up", up, MODEL);
    constant(onnx, "down", down, HIDDEN);
    onnx.integers("zero", 0)
        .integers("half", SIZE / 2)
        .integers("size", SIZE)
        .integers("three", 3)
        .integers("one", 1);
    byte[] epsilon = OnnxWriter.attribute("epsilon", EPSILON);
    onnx.node("RMSNormalization", List.of("x", "norm1"), List.of("normed"), epsilon)
        .node("MatMul", List.of("normed", "wq"), List.of("q_flat"))
        .node("MatMul", List.of("normed", "wk"), List.of("k_flat"))
        .node("MatMul", List.of("normed", "wv"), List.of("v_flat"));
    onnx.node("Unsqueeze", List.of("cos", "one"), List.of("cos4"))
        .node("Unsqueeze", List.of("sin", "one"), List.of("sin4"));
    rotated(onnx, "q", HEADS);
    rotated(onnx, "k", KV_HEADS);
    heads(onnx, "v_flat", "v_heads", KV_HEADS);
    if (operator) {
      onnx.node(
          "Attention",
          List.of("q", "k", "v_heads", "", "past_k", "past_v"),
          List.of("y_heads", "new_k", "new_v"));
    } else {
      byte[] tokens = OnnxWriter.attribute("axis", 2L);
      onnx.node("Concat", List.of("past_k", "k"), List.of("new_k"), tokens)
          .node("Concat", List.of("past_v", "v_heads"), List.of("new_v"), tokens)
          .node("Attention", List.of("q", "new_k", "new_v"), List.of("y_heads"));
    }
    onnx.integers("flat", 0, 1, HEADS * SIZE)
        .node("Reshape", List.of("y_heads", "flat"), List.of("y"))
        .node("MatMul", List.of("y", "wo"), List.of("projected"))
        .node("Add", List.of("x", "projected"), List.of("h"))
        .node("RMSNormalization", List.of("h", "norm2"), List.of("h_normed"), epsilon)
        .node("MatMul", List.of("h_normed", "gate"), List.of("g"))
        .node("MatMul", List.of("h_normed", "up"), List.of("u"))
        .node("Sigmoid", List.of("g"), List.of("s"))
        .node("Mul", List.of("g", "s"), List.of("silu"))
        .node("Mul", List.of("silu", "u"), List.of("gu"))
        .node("MatMul", List.of("gu", "down"), List.of("d"))
        .node("Add", List.of("h", "d"), List.of("out"));
    return onnx.output("out", "N", 1L, (long) MODEL)
        .output("new_k", "N", (long) KV_HEADS, past + 1L, (long) SIZE)
        .output("new_v", "N", (long) KV_HEADS, past + 1L, (long) SIZE)
        .bytes();
  }

  private static void constant(OnnxWriter onnx, String name, float[] values, int k) {
    onnx.constant(name, List.of((long) k, (long) values.length / k), values);
  }

  private static void heads(OnnxWriter onnx, String flat, String result, int heads) {
    onnx.integers(result + "_shape", 0, heads, 1, SIZE)
        .node("Reshape", List.of(flat, result + "_shape"), List.of(result));
  }

  private static void rotated(OnnxWriter onnx, String name, int heads) {
    String x = name + "_heads";
    heads(onnx, name + "_flat", x, heads);
    onnx.node("Slice", List.of(x, "zero", "half", "three"), List.of(name + "_1"))
        .node("Slice", List.of(x, "half", "size", "three"), List.of(name + "_2"))
        .node("Neg", List.of(name + "_2"), List.of(name + "_n"))
        .node(
            "Concat",
            List.of(name + "_n", name + "_1"),
            List.of(name + "_r"),
            OnnxWriter.attribute("axis", -1L))
        .node("Mul", List.of(x, "cos4"), List.of(name + "_c"))
        .node("Mul", List.of(name + "_r", "sin4"), List.of(name + "_s"))
        .node("Add", List.of(name + "_c", name + "_s"), List.of(name));
  }

  /** What it computes of a row: the result, new keys, new values. */
  List<double[]> expected(List<float[]> inputs, int row) {
    double[] x = part(inputs.get(0), row, MODEL);
    double[] cos = part(inputs.get(1), row, SIZE);
    double[] sin = part(inputs.get(2), row, SIZE);
    double[] normed = normed(x, norm1);
    double[] q = rotated(product(normed, wq), cos, sin);
    double[] k = rotated(product(normed, wk), cos, sin);
    double[] v = product(normed, wv);
    int cache = KV_HEADS * past * SIZE;
    double[] keys = appended(part(inputs.get(3), row, cache), k);
    double[] values = appended(part(inputs.get(4), row, cache), v);
    double[] y = new double[HEADS * SIZE];
    for (int h = 0; h < HEADS; h++) {
      int first = h / (HEADS / KV_HEADS) * (past + 1);
      double[] weights = new double[past + 1];
      double sum = 0;
      for (int s = 0; s <= past; s++) {
        double score = 0;
        for (int d = 0; d < SIZE; d++) {
          score += q[h * SIZE + d] * keys[(first + s) * SIZE + d];
        }
        weights[s] = Math.exp(score / Math.sqrt(SIZE));
        sum += weights[s];
      }
      for (int s = 0; s <= past; s++) {
        for (int d = 0; d < SIZE; d++) {
          y[h * SIZE + d] += weights[s] / sum * values[(first + s) * SIZE + d];
        }
      }
    }
    double[] h = plus(x, product(y, wo));
    double[] second = normed(h, norm2);
    double[] g = product(second, gate);
    double[] u = product(second, up);
    for (int i = 0; i < HIDDEN; i++) {
      u[i] *= g[i] / (1 + Math.exp(-g[i]));
    }
    return new ArrayList<>(List.of(plus(h, product(u, down)), keys, values));
  }

  private static double[] part(float[] all, int row, int count) {
    double[] result = new double[count];
    for (int i = 0; i < count; i++) {
      result[i] = all[row * count + i];
    }
    return result;
  }

  private static double[] normed(double[] x, float[] scale) {
    double squares = 0;
    for (double each : x) {
      squares += each * each / x.length;
    }
    double[] result = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      result[i] = x[i] / Math.sqrt(squares + EPSILON) * scale[i];
    }
    return result;
  }

  private static double[] product(double[] x, float[] weight) {
    double[] result = new double[weight.length / x.length];
    for (int i = 0; i < weight.length; i++) {
      result[i % result.length] += x[i / result.length] * weight[i];
    }
    return result;
  }

  private static double[] rotated(double[] x, double[] cos, double[] sin) {
    double[] result = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      int d = i % SIZE;
      double other = d < SIZE / 2 ? -x[i + SIZE / 2] : x[i - SIZE / 2];
      result[i] = x[i] * cos[d] + other * sin[d];
    }
    return result;
  }

  private double[] appended(double[] before, double[] last) {
    double[] result = new double[before.length + last.length];
    for (int h = 0; h < KV_HEADS; h++) {
      System.arraycopy(before, h * past * SIZE, result, h * (past + 1) * SIZE, past * SIZE);
      System.arraycopy(last, h * SIZE, result, (h * (past + 1) + past) * SIZE, SIZE);
    }
    return result;
  }

  private static double[] plus(double[] a, double[] b) {
    double[] result = new double[a.length];
    for (int i = 0; i < a.length; i++) {
      result[i] = a[i] + b[i];
    }
    return result;
  }
}
