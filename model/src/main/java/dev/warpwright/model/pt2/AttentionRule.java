package dev.warpwright.model.pt2;

import dev.warpwright.model.onnx.Proto.Attribute;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Import of {@code torch.nn.functional.scaled_dot_product_attention}. */
final class AttentionRule {
  private AttentionRule() {}

  static void scaledDotProduct(AtenCall call) {
    if (call.has("attn_mask")) {
      throw call.error("attn_mask is not supported; the only token sees all keys");
    }
    if (call.number("dropout_p", 0) != 0) {
      throw call.error("the model was exported in training mode; call model.eval() first");
    }
    List<String> inputs = List.of(call.tensor("query"), call.tensor("key"), call.tensor("value"));
    if (!call.flag("enable_gqa", false)
        && call.size(inputs.get(0), 1) != call.size(inputs.get(1), 1)) {
      throw call.error("the heads of query and key differ, and enable_gqa is not set");
    }
    Map<String, Attribute> attributes = new HashMap<>();
    attributes.put("is_causal", AtenCall.of(call.flag("is_causal", false) ? 1L : 0L));
    if (call.has("scale")) {
      attributes.put("scale", AtenCall.of(call.number("scale")));
    }
    call.last("Attention", inputs, attributes);
  }
}
