package dev.warpwright.model.onnx;

import dev.warpwright.model.build.Size;
import dev.warpwright.model.build.Term;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Import of Attention, the operator since version 23. */
final class AttentionRules {
  static final Set<String> ATTRIBUTES =
      Set.of(
          "is_causal",
          "kv_num_heads",
          "q_num_heads",
          "qk_matmul_output_mode",
          "scale",
          "softcap",
          "softmax_precision");

  private static final List<Long> TOKENS_AND_HEADS = List.of(0L, 2L, 1L, 3L);
  private static final int MASK = 3;
  private static final int PAST_KEY = 4;
  private static final int PAST_VALUE = 5;

  private AttentionRules() {}

  /** The result, and the keys and values with those that came before them. */
  static List<Term> attention(NodeContext node) {
    if (node.has(MASK)) {
      throw node.attentions().unsupported("a mask is not supported; the only token sees all keys");
    }
    if (node.floatAttribute("softcap", 0) != 0) {
      throw node.attentions().unsupported("softcap is not supported");
    }
    if (node.has(PAST_KEY) != node.has(PAST_VALUE)) {
      throw node.attentions().unsupported("has past keys or past values, but not both");
    }
    boolean flat = node.shapes().sizes(node.input(0)).sizes().size() == 3;
    Term q = heads(node, 0, "q_num_heads");
    Term k = heads(node, 1, "kv_num_heads");
    Term v = heads(node, 2, "kv_num_heads");
    if (node.has(PAST_KEY)) {
      k = node.selection().concat(List.of(node.input(PAST_KEY), k), 2);
      v = node.selection().concat(List.of(node.input(PAST_VALUE), v), 2);
    }
    boolean causal = node.intAttribute("is_causal", 0) != 0;
    Term y = node.attentions().attend(q, k, v, node.floatAttribute("scale", 0), causal);
    if (flat) {
      Term tokens = node.shapes().transpose(y, TOKENS_AND_HEADS);
      List<Size> sizes = node.shapes().sizes(node.input(0)).sizes();
      y = node.shapes().reshape(tokens, sizes, true);
    }
    List<Term> results = new ArrayList<>(List.of(y, k, v));
    return results.subList(0, Math.min(results.size(), node.node().outputs().size()));
  }

  /** An input as {@code [batch, heads, tokens, size]}. */
  private static Term heads(NodeContext node, int index, String attribute) {
    Term x = node.input(index);
    List<Size> sizes = node.shapes().sizes(x).sizes();
    if (sizes.size() == 4) {
      return x;
    }
    long heads = node.intAttribute(attribute, 0);
    if (sizes.size() != 3
        || heads < 1
        || !(sizes.get(2) instanceof Size.Known(long features))
        || features % heads != 0) {
      throw node.attentions()
          .unsupported(
              "input "
                  + index
                  + ", "
                  + x.typeText()
                  + ", is no "
                  + heads
                  + " heads of "
                  + attribute);
    }
    List<Size> apart =
        List.of(
            sizes.get(0), sizes.get(1), new Size.Known(heads), new Size.Known(features / heads));
    return node.shapes().transpose(node.shapes().reshape(x, apart, true), TOKENS_AND_HEADS);
  }
}
