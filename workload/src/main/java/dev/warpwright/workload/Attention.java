package dev.warpwright.workload;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.accuracy.SumAccuracy;
import dev.warpwright.ir.type.DType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Attention of grouped queries over cached keys and values: {@code O = softmax(scale · Q · Kᵀ) · V}
 * for each head of each entry of a batch. All heads of a group of {@code queryHeads / kvHeads} have
 * the keys and values of one head.
 *
 * <table>
 * <caption>Buffers, row-major</caption>
 * <tr><td>{@code Q}, {@code O}</td><td>{@code [batch · kvHeads, rows, headSize]}, which is
 *     {@code [batch, queryHeads, tokens, headSize]}</td></tr>
 * <tr><td>{@code K}, {@code V}</td><td>contiguous {@code [batch · kvHeads, keys, headSize]}, paged
 *     {@code [pages · kvHeads, page, headSize]}</td></tr>
 * <tr><td>{@code lengths}</td><td>{@code i32[batch]}: keys of an entry, those of its new tokens
 *     included; from 0 to {@code keys}</td></tr>
 * <tr><td>{@code table}</td><td>{@code i32[batch, ⌈keys / page⌉]}, paged only: the page of keys
 *     {@code i · page} and so on; not read behind an entry's length</td></tr>
 * </table>
 *
 * <p>What lies behind an entry's length may hold anything. A row that sees no key is 0.
 *
 * @param batch entries
 * @param queryHeads heads of Q, a multiple of {@code kvHeads}
 * @param kvHeads heads of K and V
 * @param headSize columns of a head, a multiple of 8
 * @param tokens new tokens of each entry
 * @param keys the most keys of an entry
 * @param causal whether token {@code t} sees the keys up to {@code length - tokens + t} only
 * @param scale of scores, positive
 * @param type of Q, K, V and O; f16, bf16 or f32. Sums are in f32, weights of values are rounded to
 *     it
 * @param page keys of a page; 0 for a contiguous cache
 */
public record Attention(
    int batch,
    int queryHeads,
    int kvHeads,
    int headSize,
    int tokens,
    int keys,
    boolean causal,
    double scale,
    DType type,
    int page)
    implements Workload {
  /** Head sizes are multiples of so many elements, 16 bytes in 16 bits. */
  public static final int HEAD_STEP = 8;

  private static final int MOST_HEAD = 256;

  /** Checks that there is something of everything and that the heads' groups are whole. */
  public Attention {
    atLeast("batch", batch, 1);
    atLeast("kvHeads", kvHeads, 1);
    atLeast("tokens", tokens, 1);
    atLeast("keys", keys, 1);
    atLeast("page", page, 0);
    if (queryHeads < kvHeads || queryHeads % kvHeads != 0) {
      throw new IllegalArgumentException(
          queryHeads + " query heads are no multiple of " + kvHeads + " K/V heads");
    }
    if (headSize < HEAD_STEP || headSize > MOST_HEAD || headSize % HEAD_STEP != 0) {
      throw new IllegalArgumentException(
          "a head of " + headSize + " is no multiple of 8 from 8 to " + MOST_HEAD);
    }
    if (!(scale > 0) || scale == Double.POSITIVE_INFINITY) {
      throw new IllegalArgumentException("a scale of " + scale + " is not positive");
    }
    if (type != DType.F16 && type != DType.BF16 && type != DType.F32) {
      throw new IllegalArgumentException("attention in " + type + ": it is f16, bf16 or f32");
    }
    int slab = page == 0 ? keys : page;
    double rows =
        Math.max((double) queryHeads * tokens, (double) kvHeads * slab * Math.ceilDiv(keys, slab));
    if (batch * rows * headSize > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("a buffer has more elements than 2^31 - 1");
    }
  }

  private static void atLeast(String name, int value, int least) {
    if (value < least) {
      throw new IllegalArgumentException(name + " is " + value + ", at least " + least + " is");
    }
  }

  /**
   * {@return attention over a contiguous cache, scores divided by the root of the head size, not
   * causal}
   *
   * @param batch entries
   * @param queryHeads heads of Q, a multiple of {@code kvHeads}
   * @param kvHeads heads of K and V
   * @param headSize elements of a head's row
   * @param tokens rows of Q of each head and entry
   * @param keys most keys of an entry
   * @param type of Q, K, V and O
   */
  public static Attention of(
      int batch, int queryHeads, int kvHeads, int headSize, int tokens, int keys, DType type) {
    double scale = 1 / Math.sqrt(headSize);
    return new Attention(batch, queryHeads, kvHeads, headSize, tokens, keys, false, scale, type, 0);
  }

  /**
   * {@return the same, causal or not}
   *
   * @param newCausal whether a token sees only keys up to its own
   */
  public Attention withCausal(boolean newCausal) {
    return new Attention(
        batch, queryHeads, kvHeads, headSize, tokens, keys, newCausal, scale, type, page);
  }

  /**
   * {@return the same with pages of so many keys; 0 for a contiguous cache}
   *
   * @param newPage keys of a page
   */
  public Attention withPage(int newPage) {
    return new Attention(
        batch, queryHeads, kvHeads, headSize, tokens, keys, causal, scale, type, newPage);
  }

  /**
   * {@return the same with another factor of the scores}
   *
   * @param newScale of scores, before the softmax
   */
  public Attention withScale(double newScale) {
    return new Attention(
        batch, queryHeads, kvHeads, headSize, tokens, keys, causal, newScale, type, page);
  }

  /** {@return query heads that share a head of K and V} */
  public int group() {
    return queryHeads / kvHeads;
  }

  /**
   * {@return rows of Q that share keys: row {@code g · tokens + t} is token t of the group's head
   * g}
   */
  public int rows() {
    return group() * tokens;
  }

  /** {@return heads of K and V in all entries: the first extent of Q and O} */
  public int heads() {
    return batch * kvHeads;
  }

  /** {@return whether the cache is in pages, which a table finds} */
  public boolean isPaged() {
    return page > 0;
  }

  /** {@return keys that lie together: of a page, or of an entry} */
  public int slabKeys() {
    return isPaged() ? page : keys;
  }

  /** {@return pages of an entry; 1 of a contiguous cache} */
  public int pagesEach() {
    return Math.ceilDiv(keys, slabKeys());
  }

  /** {@return the first extent of K and V: a head's keys of a page, or of an entry} */
  public int slabs() {
    return batch * pagesEach() * kvHeads;
  }

  /**
   * {@return the buffer Q, or O of the same shape: [heads, rows, head size]}
   *
   * @param name {@code Q} or {@code O}
   */
  public Buffer rowsBuffer(String name) {
    return Buffer.of(name, type, Scope.GLOBAL, heads(), rows(), headSize);
  }

  /**
   * {@return the buffer K, or V of the same shape: [slabs, keys of a slab, head size]}
   *
   * @param name {@code K} or {@code V}
   */
  public Buffer cache(String name) {
    return Buffer.of(name, type, Scope.GLOBAL, slabs(), slabKeys(), headSize);
  }

  /** {@return the buffer of how many keys each entry has: i32[batch]} */
  public Buffer lengths() {
    return Buffer.of("lengths", DType.I32, Scope.GLOBAL, batch);
  }

  /**
   * {@return the buffer of which page is where: i32[batch, pages of an entry]; of a paged cache
   * only}
   */
  public Buffer table() {
    return Buffer.of("table", DType.I32, Scope.GLOBAL, batch, pagesEach());
  }

  @Override
  public String kind() {
    return "attention";
  }

  @Override
  public String text() {
    return String.format(
        Locale.ROOT,
        "attention B=%d HQ=%d HKV=%d D=%d T=%d S=%d%s%s %s",
        batch,
        queryHeads,
        kvHeads,
        headSize,
        tokens,
        keys,
        causal ? " causal" : "",
        isPaged() ? " page=" + page : "",
        type);
  }

  /** {@return by what records are found} */
  public WorkloadKey key() {
    Map<String, String> parameters = new TreeMap<>();
    parameters.put("b", Integer.toString(batch));
    parameters.put("hq", Integer.toString(queryHeads));
    parameters.put("hkv", Integer.toString(kvHeads));
    parameters.put("d", Integer.toString(headSize));
    parameters.put("t", Integer.toString(tokens));
    parameters.put("s", Integer.toString(keys));
    parameters.put("causal", causal ? "1" : "0");
    parameters.put("page", Integer.toString(page));
    parameters.put("dtype", type.text());
    return new WorkloadKey(kind(), parameters);
  }

  @Override
  public Precision precision() {
    return Precision.of(type);
  }

  @Override
  public List<DType> results() {
    return List.of(type);
  }

  /**
   * {@return pairs of a token and a key that it sees, of a head of an entry with so many keys}
   *
   * @param length keys of the entry
   */
  public double pairs(int length) {
    if (!causal) {
      return (double) tokens * length;
    }
    double pairs = 0;
    for (int t = 0; t < tokens; t++) {
      pairs += Math.max(0, length - tokens + t + 1);
    }
    return pairs;
  }

  /** Of entries with all keys; both products. */
  @Override
  public double flops() {
    return 4.0 * batch * queryHeads * headSize * pairs(keys);
  }

  /** {@return bytes that must be read and written, of entries with all keys} */
  public double bytes() {
    double rows = 2.0 * batch * queryHeads * tokens;
    double cached = 2.0 * heads() * keys;
    return (rows + cached) * headSize * type.bytes()
        + 4.0 * batch * (isPaged() ? 1 + pagesEach() : 1);
  }

  /** Of the scores, and of the sums of weighted values. */
  @Override
  public GemmDeviation deviation(int product) {
    SumAccuracy sums = precision().accuracy();
    return product == 0
        ? GemmDeviation.of(sums, headSize, Epilogue.NONE, DType.F32)
        : GemmDeviation.of(sums.ofRounded(ErrorBound.of(type).unit()), keys, Epilogue.NONE, type);
  }

  /**
   * The plain definition, in which nothing is rounded but its result. Parameters Q, K, V, lengths,
   * table if paged, O; blocks {@code scores}, {@code top}, {@code weights}, {@code sum}, {@code
   * sums}, O.
   */
  @Override
  public PrimFunc func() {
    return AttentionFunction.of(this);
  }
}
