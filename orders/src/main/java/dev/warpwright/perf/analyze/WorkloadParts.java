package dev.warpwright.perf.analyze;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonFields;
import dev.warpwright.perf.predict.Part;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A workload as the parts that it is made of. */
public record WorkloadParts(String name, Precision type, List<Part> parts) {
  public WorkloadParts {
    parts = List.copyOf(parts);
  }

  /** A decoder-only transformer: what its weights and heads look like. */
  private record Transformer(
      String name,
      int layers,
      long width,
      long hidden,
      boolean gated,
      long heads,
      long keyHeads,
      long vocabulary) {}

  /** Rows of queries that a block of a fused attention kernel has. */
  private static final long QUERY_TILE = 128;

  private static final List<Transformer> MODELS =
      List.of(
          new Transformer("llama3-8b", 32, 4096, 14336, true, 32, 8, 128_256),
          new Transformer("llama2-13b", 40, 5120, 13824, true, 40, 40, 32_000),
          new Transformer("llama3-70b", 80, 8192, 28672, true, 64, 8, 128_256),
          new Transformer("gpt3", 96, 12288, 49152, false, 96, 96, 50_257));

  /** Reads values by name and remembers which names were asked for. */
  private static final class Values {
    private final String what;
    private final Map<String, Long> values;
    private final Set<String> known = new LinkedHashSet<>();

    Values(String what, Map<String, Long> values) {
      this.what = what;
      this.values = values;
    }

    long need(String name) {
      known.add(name);
      Long value = values.get(name);
      if (value == null) {
        throw new UserError(what + " needs a value of " + name + "; give " + name + "=...");
      }
      return positive(name, value);
    }

    long get(String name, long otherwise) {
      known.add(name);
      return positive(name, values.getOrDefault(name, otherwise));
    }

    boolean flag(String name) {
      known.add(name);
      return values.getOrDefault(name, 0L) != 0;
    }

    private static long positive(String name, long value) {
      if (value < 1 || value > 1L << 31) {
        throw new UserError(name + "=" + value + ": it must be between 1 and " + (1L << 31));
      }
      return value;
    }

    void noMore() {
      for (String name : values.keySet()) {
        if (!known.contains(name)) {
          throw new UserError(
              what + " has no value " + name + "; it takes " + String.join(", ", known));
        }
      }
    }
  }

  /**
   * A model of one's own: a list of products, each of which may stand for several.
   *
   * @param where what messages begin with
   * @param json {@code {"name": "mine", "layers": [{"name": "up", "M": 64, "N": 13824, "K": 5120,
   *     "times": 40}]}}; a layer without M has the rows of {@code m}
   * @param m rows of layers that say none; null if none are given
   * @throws UserError if it is something else
   */
  public static WorkloadParts file(String where, Json json, Precision type, @Nullable Long m) {
    JsonFields fields = JsonFields.of(where, json);
    List<Part> parts =
        fields.list("layers", (at, layer) -> layer(JsonFields.of(at, layer), type, m));
    if (parts.isEmpty()) {
      throw new UserError(where + ": no layers");
    }
    String name = fields.has("name") ? fields.text("name") : "model";
    return new WorkloadParts(m == null ? name : name + ", M=" + m, type, parts);
  }

  private static Part layer(JsonFields fields, Precision type, @Nullable Long m) {
    if (!fields.has("M") && m == null) {
      throw new UserError(fields.where() + ": no M; give it there, or M=... for all layers");
    }
    long rows = fields.has("M") || m == null ? fields.integer("M") : m;
    long times = fields.has("times") ? fields.integer("times") : 1;
    return Part.gemm(
        fields.has("name") ? fields.text("name") : "layer",
        Values.positive("times", times),
        Values.positive("M", rows),
        Values.positive("N", fields.integer("N")),
        Values.positive("K", fields.integer("K")),
        type);
  }

  /** Names of the models that {@link #model} knows. */
  public static List<String> models() {
    return MODELS.stream().map(Transformer::name).toList();
  }

  /**
   * A workload of a kind.
   *
   * @param kind {@code gemm} with M, N, K; {@code ffn} with M, D (width), H (hidden) and gated;
   *     {@code attention} with M (queries), S (keys, default M), heads, kv (heads of keys), d (of a
   *     head), batch and causal
   * @throws UserError if a value is missing, unknown or out of range
   */
  public static WorkloadParts of(String kind, Precision type, Map<String, Long> given) {
    var values = new Values(kind, given);
    WorkloadParts workload =
        switch (kind) {
          case "gemm" -> gemm(values, type);
          case "ffn" -> ffn(values, type);
          case "attention" -> attention(values, type);
          default ->
              throw new UserError(
                  "there is no workload '" + kind + "'; gemm, ffn, attention or model=... is");
        };
    values.noMore();
    return workload;
  }

  /**
   * One pass of a language model over M tokens: all layers and the last projection. With a context
   * the tokens follow S others; decoding one token for each of M sequences is M with batch=M.
   *
   * @param given M, and S for the keys that queries see (default M), batch (sequences, default 1)
   */
  public static WorkloadParts model(String name, Precision type, Map<String, Long> given) {
    Transformer model =
        MODELS.stream()
            .filter(m -> m.name.equals(name))
            .findFirst()
            .orElseThrow(
                () ->
                    new UserError(
                        "model '" + name + "' is none of " + String.join(", ", models())));
    var values = new Values(name, given);
    long m = values.need("M");
    long batch = values.get("batch", 1);
    long keys = values.get("S", Math.max(1, m / batch));
    values.noMore();
    if (m % batch != 0) {
      throw new UserError("M=" + m + ": it is no multiple of batch=" + batch);
    }
    long head = model.width / model.heads;
    List<Part> parts = new ArrayList<>();
    parts.add(
        Part.gemm(
            "qkv projection",
            model.layers,
            m,
            (model.heads + 2 * model.keyHeads) * head,
            model.width,
            type));
    parts.add(
        attention(
            "attention",
            model.layers,
            batch,
            m / batch,
            keys,
            model.heads,
            model.keyHeads,
            head,
            m / batch > 1,
            type));
    parts.add(Part.gemm("output projection", model.layers, m, model.width, model.width, type));
    parts.addAll(ffn(model.layers, m, model.width, model.hidden, model.gated, type));
    parts.add(Part.gemm("logits", 1, m, model.vocabulary, model.width, type));
    return new WorkloadParts(
        String.format(Locale.ROOT, "%s, M=%d, %d sequences, %d keys", name, m, batch, keys),
        type,
        parts);
  }

  private static WorkloadParts gemm(Values values, Precision type) {
    long m = values.need("M");
    long n = values.need("N");
    long k = values.need("K");
    return new WorkloadParts(
        String.format(Locale.ROOT, "gemm %d x %d x %d", m, n, k),
        type,
        List.of(Part.gemm("gemm", 1, m, n, k, type)));
  }

  private static WorkloadParts ffn(Values values, Precision type) {
    long m = values.need("M");
    long width = values.get("D", 4096);
    long hidden = values.get("H", 14336);
    boolean gated = values.flag("gated");
    return new WorkloadParts(
        String.format(Locale.ROOT, "ffn M=%d D=%d H=%d%s", m, width, hidden, gated ? " gated" : ""),
        type,
        ffn(1, m, width, hidden, gated, type));
  }

  private static List<Part> ffn(
      long times, long m, long width, long hidden, boolean gated, Precision type) {
    String up = gated ? "ffn up and gate" : "ffn up";
    return List.of(
        Part.gemm(up, times, m, gated ? 2 * hidden : hidden, width, type),
        elementwise(times, m, hidden, gated, type),
        Part.gemm("ffn down", times, m, width, hidden, type));
  }

  private static Part elementwise(long times, long m, long hidden, boolean gated, Precision type) {
    double elements = (double) m * hidden;
    double bytes = (gated ? 3 : 2) * elements * type.resultBytes();
    return new Part("activation", times, (gated ? 6 : 5) * elements, bytes, bytes, null, true);
  }

  private static WorkloadParts attention(Values values, Precision type) {
    long batch = values.get("batch", 1);
    long queries = values.need("M");
    long keys = values.get("S", queries);
    long heads = values.get("heads", 32);
    long keyHeads = values.get("kv", heads);
    long head = values.get("d", 128);
    boolean causal = values.flag("causal");
    if (heads % keyHeads != 0) {
      throw new UserError("heads=" + heads + ": it is no multiple of kv=" + keyHeads);
    }
    Part fused = attention("fused", 1, batch, queries, keys, heads, keyHeads, head, causal, type);
    double scores = (double) batch * heads * queries * keys;
    double keyBytes = (double) batch * keyHeads * keys * head * type.operand().bytes();
    double queryBytes = (double) batch * heads * queries * head * type.operand().bytes();
    double flops = fused.flops() / 2;
    double products = scores * type.resultBytes() + keyBytes + queryBytes;
    double softmax = 2 * scores * type.resultBytes();
    // Scores that leave the chip are the point: three passes write and read them.
    List<Part> parts =
        List.of(
            fused,
            new Part(
                "scores",
                1,
                flops,
                products,
                products + rereadKeys(batch, heads, keyHeads, queries, keys, head, type),
                null,
                true),
            new Part("softmax", 1, 5 * scores, softmax, softmax, null, true),
            new Part(
                "values",
                1,
                flops,
                products,
                products + rereadKeys(batch, heads, keyHeads, queries, keys, head, type),
                null,
                true));
    return new WorkloadParts(
        String.format(
            Locale.ROOT,
            "attention M=%d S=%d heads=%d kv=%d d=%d batch=%d%s",
            queries,
            keys,
            heads,
            keyHeads,
            head,
            batch,
            causal ? " causal" : ""),
        type,
        parts);
  }

  private static Part attention(
      String name,
      long times,
      long batch,
      long queries,
      long keys,
      long heads,
      long keyHeads,
      long head,
      boolean causal,
      Precision type) {
    double pairs = (double) queries * keys;
    if (causal) {
      // A query sees the keys before it; the queries are the last ones.
      long own = Math.min(queries, keys);
      pairs -= (double) own * (own - 1) / 2;
    }
    double flops = 4.0 * batch * heads * pairs * head;
    double bytes =
        ((double) batch * keyHeads * keys * head * 2 + (double) batch * heads * queries * head * 2)
            * type.operand().bytes();
    // Causal tiles skip the keys behind them.
    double seen = pairs / ((double) queries * keys);
    double reread = 2 * seen * rereadKeys(batch, heads, keyHeads, queries, keys, head, type);
    return new Part(name, times, flops, bytes, bytes + reread, null, false);
  }

  /**
   * What tiles of queries read of the keys, or of the values, beside the first tile: each goes over
   * all of them. Queries of the heads that share keys fill a tile together.
   */
  private static double rereadKeys(
      long batch, long heads, long keyHeads, long queries, long keys, long head, Precision type) {
    long tiles = Math.ceilDiv(queries * (heads / keyHeads), QUERY_TILE);
    return (tiles - 1.0) * batch * keyHeads * keys * head * type.operand().bytes();
  }
}
