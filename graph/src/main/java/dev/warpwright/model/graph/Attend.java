package dev.warpwright.model.graph;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.AttentionCache;
import dev.warpwright.workload.AttentionReference;
import java.util.Arrays;
import java.util.List;

/**
 * Attention of one new token for each row: all that a token sees is among its row's features, so
 * rows do not meet. Of row m and query head h, whose keys are those of head {@code h / (heads /
 * kvHeads)},
 *
 * <pre>{@code output[m, h] = softmax over s of (scale · q[m, h] · k[m, kv, s]) · v[m, kv, s] }
 * </pre>
 *
 * @param output [rows, heads · headSize]
 * @param q the same
 * @param k [rows, kvHeads · keys · headSize]
 * @param v the same as k
 * @param heads of q, a multiple of {@code kvHeads}
 * @param kvHeads of k and v
 * @param scale of scores, positive
 * @param name of the node in the original file, for messages
 */
public record Attend(
    Value output, Value q, Value k, Value v, int heads, int kvHeads, double scale, String name)
    implements Node {
  /** Checks that the heads divide the features and that keys and values fit the queries. */
  public Attend {
    int size = heads < 1 ? 0 : q.features() / heads;
    boolean fits =
        kvHeads > 0
            && size > 0
            && q.features() == heads * size
            && output.features() == q.features()
            && k.features() == v.features()
            && k.features() % ((long) kvHeads * size) == 0;
    if (!fits) {
      throw new IllegalArgumentException(
          q + ", " + k + " and " + v + " are no attention of " + heads + " heads");
    }
  }

  /** {@return columns of a head} */
  public int headSize() {
    return q.features() / heads;
  }

  /** {@return keys of a row} */
  public int keys() {
    return k.features() / (kvHeads * headSize());
  }

  /**
   * {@return the workload of so many rows, each an entry with all of its keys}
   *
   * @param rows entries, at least 1
   * @throws IllegalArgumentException if there is none of these sizes
   */
  public Attention attention(int rows) {
    return new Attention(rows, heads, kvHeads, headSize(), 1, keys(), false, scale, DType.F32, 0);
  }

  /** What it is of these values, in f64. */
  AttentionReference evaluate(int rows, double[] queries, double[] ofKeys, double[] values) {
    if (rows == 0) {
      return new AttentionReference(new double[0], new double[0]);
    }
    int[] lengths = new int[rows];
    Arrays.fill(lengths, keys());
    AttentionCache cache;
    try {
      cache = new AttentionCache(attention(rows), lengths, new int[0]);
    } catch (IllegalArgumentException e) {
      throw new UserError("node " + Names.quote(name) + ": " + e.getMessage(), e);
    }
    return AttentionReference.of(cache, queries, ofKeys, values);
  }

  /**
   * {@return how far each element of these values' result may be off in f32, as a deviation}
   *
   * @param queries row-major, {@code [rows, heads · head size]}
   * @param ofKeys row-major, {@code [rows, kvHeads · keys · head size]}
   * @param values as the keys
   */
  public double[] deviations(double[] queries, double[] ofKeys, double[] values) {
    return evaluate(queries.length / q.features(), queries, ofKeys, values).deviations();
  }

  @Override
  public Attend to(Value newOutput) {
    return new Attend(newOutput, q, k, v, heads, kvHeads, scale, name);
  }

  @Override
  public String op() {
    return "attention";
  }

  @Override
  public List<Value> inputs() {
    return List.of(q, k, v);
  }

  @Override
  public List<ConstantTensor> constants() {
    return List.of();
  }
}
