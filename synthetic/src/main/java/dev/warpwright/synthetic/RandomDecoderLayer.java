package dev.warpwright.synthetic;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Attend;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Activation;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A decoder layer with random weights as one step of decoding has it: RMS norm; projections of
 * queries, keys and values; rotary embedding; attention of grouped queries over a cache to which
 * the new keys and values are written; its projection and residual; RMS norm; SwiGLU; residual. An
 * entry of the batch is a row.
 *
 * <p>Inputs are x, the cosines and sines of the token's place, and caches of keys and values of a
 * fixed length; results y and the caches, in whose last place the new token's keys and values are.
 * Whoever gives the same memory for both has them written in place.
 *
 * @param heads of queries, a multiple of {@code kvHeads}
 * @param kvHeads of keys and values
 * @param size columns of a head, a multiple of 8 up to 256; the layer has {@code heads · size}
 *     features
 * @param hidden features between gate, up and down projections
 * @param keys that the new token sees, itself included, at least 2
 */
public record RandomDecoderLayer(int heads, int kvHeads, int size, int hidden, int keys) {
  private static final double EPSILON = 1e-5;

  /**
   * Checks the sizes.
   *
   * @throws UserError if there is no such layer, or it is too large
   */
  public RandomDecoderLayer {
    if (heads < 1 || kvHeads < 1 || heads % kvHeads != 0) {
      throw new UserError("HQ=" + heads + " HKV=" + kvHeads + ": HQ is a multiple of HKV");
    }
    if (size < 8 || size > 256 || size % 8 != 0) {
      throw new UserError("D=" + size + ": a head has a multiple of 8 columns, 256 at most");
    }
    if (hidden < 1 || keys < 2) {
      throw new UserError("H=" + hidden + " S=" + keys + ": H is positive, S at least 2");
    }
    if ((long) kvHeads * size * keys > Integer.MAX_VALUE
        || (long) heads * size * Math.max(heads * (long) size, hidden) > Integer.MAX_VALUE) {
      throw new UserError(
          "HQ="
              + heads
              + " HKV="
              + kvHeads
              + " D="
              + size
              + " H="
              + hidden
              + " S="
              + keys
              + ": a cache or a weight of more elements than 2^31 - 1");
    }
  }

  /**
   * The network.
   *
   * @param dtype of weights, inputs and results
   * @param seed of the weights
   * @return the layer, its rows called {@code batch}
   */
  public Graph graph(DType dtype, long seed) {
    RandomNodes nodes = new RandomNodes("batch", dtype, new SplittableRandom(seed));
    int model = heads * size;
    Value x = nodes.value("x", model);
    Value cos = nodes.value("cos", size);
    Value sin = nodes.value("sin", size);
    Value pastKeys = nodes.value("past_keys", kvHeads * keys * size);
    Value pastValues = nodes.value("past_values", kvHeads * keys * size);
    Value normed = normed(nodes, x, "input_norm.weight");
    Value q = rotated(nodes, nodes.linear("q_proj", normed, model, 0), cos, sin);
    Value k = rotated(nodes, nodes.linear("k_proj", normed, kvHeads * size, 0), cos, sin);
    Value v = nodes.linear("v_proj", normed, kvHeads * size, 0);
    Value allKeys = appended(nodes, pastKeys, k, "keys");
    Value allValues = appended(nodes, pastValues, v, "values");
    Value attended = nodes.value("attended", model);
    nodes
        .nodes()
        .add(
            new Attend(
                attended, q, allKeys, allValues, heads, kvHeads, 1 / Math.sqrt(size), "attention"));
    Value projected = nodes.linear("o_proj", attended, model, 0);
    Value h = nodes.apply(ElementwiseOp.ADD, x, projected);
    Value second = normed(nodes, h, "post_attention_norm.weight");
    Value gate = nodes.apply(Activation.SILU, nodes.linear("gate_proj", second, hidden, 0));
    Value inner = nodes.apply(ElementwiseOp.MUL, gate, nodes.linear("up_proj", second, hidden, 0));
    Value down = nodes.linear("down_proj", inner, model, 0);
    Value y = nodes.named(nodes.apply(ElementwiseOp.ADD, h, down), "y");
    return new Graph(
        "decoder_layer",
        List.of(x, cos, sin, pastKeys, pastValues),
        List.of(y, allKeys, allValues),
        nodes.nodes());
  }

  /** x / √(mean(x²) + ε) · weight. */
  private static Value normed(RandomNodes nodes, Value x, String weight) {
    Value mean = nodes.mean(nodes.apply(ElementwiseOp.MUL, x, x));
    Value shifted =
        nodes.apply(ElementwiseOp.ADD, 1, new Operand.OfValue(mean), nodes.number(EPSILON));
    Value unit = nodes.apply(ElementwiseOp.DIV, x, nodes.apply(ElementwiseOp.SQRT, shifted));
    return nodes.apply(
        ElementwiseOp.MUL,
        x.features(),
        new Operand.OfValue(unit),
        nodes.factors(weight, x.features()));
  }

  /** x · cos + (−x₂, x₁) · sin, where x₁ and x₂ are the halves of each head. */
  private Value rotated(RandomNodes nodes, Value x, Value cos, Value sin) {
    int half = size / 2;
    Value first = nodes.columns(x, x.features() / 2, n -> n / half * size + n % half);
    Value second = nodes.columns(x, x.features() / 2, n -> n / half * size + half + n % half);
    Value both = nodes.concat(nodes.apply(ElementwiseOp.NEG, second), first);
    Value turned =
        nodes.columns(
            both,
            x.features(),
            n -> n / size * half + n % half + (n % size < half ? 0 : x.features() / 2));
    Value cosines = nodes.columns(cos, x.features(), n -> n % size);
    Value sines = nodes.columns(sin, x.features(), n -> n % size);
    return nodes.apply(
        ElementwiseOp.ADD,
        nodes.apply(ElementwiseOp.MUL, x, cosines),
        nodes.apply(ElementwiseOp.MUL, turned, sines));
  }

  /** The cache of each head, in whose last place the new token's are. */
  private Value appended(RandomNodes nodes, Value past, Value last, String name) {
    int before = (keys - 1) * size;
    Value both = nodes.concat(past, last);
    Value all =
        nodes.columns(
            both,
            kvHeads * keys * size,
            n -> {
              int head = n / (keys * size);
              int at = n % (keys * size);
              return at < before ? n : past.features() + head * size + at - before;
            });
    return nodes.named(all, name);
  }
}
