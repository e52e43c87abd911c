package dev.warpwright.ir.attribute;

import dev.warpwright.base.Spelling;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The attributes that there are: the key, the type of the value, and where it may stand. What no
 * row has is refused, so that a misspelt key is no silent default. {@code docs/text-form.md} has
 * the same table.
 */
public enum Attribute {
  ARCH("arch", Type.TEXT, "the least architecture", Place.FUNCTION),
  ARITHMETIC("arithmetic", Type.TEXT, "what GEMMs are computed in", Place.FUNCTION),
  ASYNC("async", Type.INTEGER, "1: copies are asynchronous", Place.FUNCTION, Place.LOOP),
  BARRIERS("barriers", Type.INTEGER, "1: the loop has its barriers", Place.LOOP),
  BLOCKS("blocks", Type.INTEGER, "blocks of a persistent grid", Place.LOOP),
  BY("by", Type.TEXT, "who carries it, or adds it up", Place.TILE),
  CLUSTER("cluster", Type.INTEGER, "blocks of a cluster", Place.FUNCTION),
  CLUSTER_K("clusterK", Type.INTEGER, "blocks that share a tile's steps", Place.FUNCTION),
  CLUSTER_M("clusterM", Type.INTEGER, "tiles of a cluster along M", Place.FUNCTION),
  CLUSTER_N("clusterN", Type.INTEGER, "tiles of a cluster along N", Place.FUNCTION),
  COLUMNS("columns", Type.INTEGER, "tiles along N", Place.FUNCTION, Place.LOOP),
  COMMENT("comment", Type.TEXT, "what stands above", Place.FUNCTION),
  CONSTANTS("constants", Type.TEXT, "parameters that no launch before writes", Place.FUNCTION),
  CONSUMERS("consumers", Type.INTEGER, "warpgroups that multiply", Place.FUNCTION),
  COOPERATIVE("cooperative", Type.INTEGER, "1: all blocks run at once", Place.FUNCTION),
  COPY("copy", Type.TEXT, "elements: \"shifted\" in vectors", Place.FUNCTION),
  DETERMINISTIC("deterministic", Type.INTEGER, "0: runs may differ in bits", Place.FUNCTION),
  DIVISION("division", Type.TEXT, "how tiles are divided", Place.FUNCTION, Place.LOOP),
  EACH("each", Type.INTEGER, "1: each thread executes an iteration", Place.LOOP),
  ELECT("elect", Type.INTEGER, "1: one thread executes it", Place.LOOP),
  EPILOGUE("epilogue", Type.TEXT, "what follows the GEMM", Place.FUNCTION),
  FAST("fast", Type.INTEGER, "1: spilled registers refuse it", Place.FUNCTION),
  HOLD("hold", Type.INTEGER, "stages released late", Place.LOOP),
  IN_FLIGHT("inflight", Type.INTEGER, "stages it is under way for", Place.TILE),
  INSTR("instr", Type.TEXT, "the matrix instruction", Place.TILE),
  ITEMS("items", Type.INTEGER, "1: an iteration is a work item", Place.LOOP),
  LAG("lag", Type.INTEGER, "stages committed late", Place.LOOP),
  LEAST("least", Type.INTEGER, "iterations at least", Place.LOOP),
  MIN_BLOCKS("minBlocks", Type.INTEGER, "blocks that fit an SM at least", Place.FUNCTION),
  MORE("more", Type.INTEGER, "1: there are tiles of three parts or more", Place.TILE),
  MULTICAST(
      "multicast",
      Type.TEXT,
      "one copy for blocks of a cluster, along m or n",
      Place.TILE,
      Place.LOOP),
  NOTE("note", Type.TEXT, "nothing: for readers", Place.FUNCTION, Place.LOOP, Place.TILE),
  NUMBERED("numbered", Type.INTEGER, "1: it counts on over all items", Place.LOOP),
  OPERANDS("operands", Type.TEXT, "the operands' type where K is 0", Place.FUNCTION),
  ORDER("order", Type.TEXT, "the order of tiles", Place.FUNCTION, Place.LOOP),
  PAIRS("pairs", Type.INTEGER, "1: there are tiles of two parts", Place.TILE),
  PART("part", Type.INTEGER, "columns of a GEMM at a time", Place.TILE),
  POINTERS("pointers", Type.INTEGER, "1: pointers in front of it", Place.LOOP),
  PREFETCH("prefetch", Type.INTEGER, "1: read an item ahead", Place.TILE, Place.LOOP),
  PRODUCERS("producers", Type.INTEGER, "warps that copy", Place.FUNCTION),
  REGISTERS("registers", Type.INTEGER, "registers of a thread", Place.ROLE),
  RESIDENT("resident", Type.INTEGER, "bytes for tiles that stay", Place.FUNCTION),
  ROWS("rows", Type.INTEGER, "tiles along M", Place.FUNCTION, Place.LOOP),
  SECOND_COLUMNS(
      "secondColumns", Type.INTEGER, "as columns, of the second", Place.FUNCTION, Place.LOOP),
  SECOND_ROWS("secondRows", Type.INTEGER, "as rows, of the second", Place.FUNCTION, Place.LOOP),
  SERPENTINE("serpentine", Type.INTEGER, "1: every second time backwards", Place.LOOP),
  SHARE("share", Type.TEXT, "what consumers share: rows, items", Place.FUNCTION),
  SLICES("slices", Type.INTEGER, "steps that share a stage", Place.LOOP),
  SLOTS("slots", Type.INTEGER, "parts of all tiles of several", Place.TILE),
  SPREAD("spread", Type.INTEGER, "1: a thread's rows lie far apart", Place.TILE),
  STAGES("stages", Type.INTEGER, "stages of a pipelined loop", Place.LOOP),
  STEPS("steps", Type.INTEGER, "steps of a tile", Place.FUNCTION, Place.LOOP),
  STORE(
      "store",
      Type.TEXT,
      "results: \"direct\", or \"rows\" by threads",
      Place.FUNCTION,
      Place.TILE),
  STREAM("stream", Type.INTEGER, "1: flows even if it could stay", Place.TILE),
  STREAMED("streamed", Type.TEXT, "parameters that are read once", Place.FUNCTION),
  THREADS("threads", Type.INTEGER, "threads of a block", Place.FUNCTION),
  THREADS_M("threadsM", Type.INTEGER, "threads along M of a tile", Place.TILE),
  THREADS_N("threadsN", Type.INTEGER, "threads along N of a tile", Place.TILE),
  TICKETS("tickets", Type.INTEGER, "1: blocks draw its items", Place.LOOP),
  TILE_M("tileM", Type.INTEGER, "rows of a block's tile", Place.FUNCTION),
  TILE_N("tileN", Type.INTEGER, "columns of a block's tile", Place.FUNCTION),
  TURNS("turns", Type.INTEGER, "1: parts in order", Place.LOOP),
  UNROLL("unroll", Type.INTEGER, "how often it is unrolled", Place.LOOP),
  UNROLLED("unrolled", Type.INTEGER, "1: becomes straight-line code", Place.LOOP),
  UNROLL_K("unrollK", Type.INTEGER, "steps of K that are written out", Place.TILE),
  VEC("vec", Type.INTEGER, "elements of a thread, side by side", Place.TILE),
  VEC_K("vecK", Type.INTEGER, "elements of a thread in K", Place.TILE),
  VEC_M("vecM", Type.INTEGER, "neighbouring rows of a thread, of an M-major operand", Place.TILE),
  WAIT("wait", Type.TEXT, "the policy of waiting", Place.FUNCTION, Place.LOOP),
  WAITS("waits", Type.TEXT, "buffers that are waited for", Place.LOOP),
  WARPS("warps", Type.INTEGER, "warps of a consumer, 4 if not said", Place.FUNCTION),
  WARPS_M("warpsM", Type.INTEGER, "warps along M of a tile", Place.TILE),
  WARPS_N("warpsN", Type.INTEGER, "warps along N of a tile", Place.TILE),
  WORKLOAD("workload", Type.TEXT, "what is computed", Place.FUNCTION),
  ZERO("zero", Type.TEXT, "buffers that are 0 before", Place.FUNCTION),
  ZEROS("zeros", Type.INTEGER, "1: copies fill up with zeros", Place.LOOP);

  /** The type of a value. */
  public enum Type {
    INTEGER,
    TEXT
  }

  /** Where an attribute stands. */
  public enum Place {
    /** A computation, a tile program or a kernel. */
    FUNCTION,
    LOOP,
    /** A block, or the tile statement that it becomes. */
    TILE,
    ROLE;

    private String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final String key;
  private final Type type;
  private final Set<Place> places;
  private final String meaning;

  Attribute(String key, Type type, String meaning, Place first, Place... more) {
    this.key = key;
    this.type = type;
    this.meaning = meaning;
    this.places = EnumSet.of(first, more);
  }

  /** The name in the text form. */
  public String key() {
    return key;
  }

  /** A row of the table in the documentation. */
  public String row() {
    return String.format(
        Locale.ROOT,
        "| `%s` | %s | %s | %s |",
        key,
        type.name().toLowerCase(Locale.ROOT),
        places.stream().map(Place::text).collect(Collectors.joining(", ")),
        meaning);
  }

  /**
   * What is wrong with an attribute, in one line.
   *
   * @return null if nothing is
   */
  public static @Nullable String problem(String key, Object value, Place place) {
    Attribute known =
        Arrays.stream(values()).filter(a -> a.key.equals(key)).findFirst().orElse(null);
    if (known == null) {
      String meant = Spelling.meant(key, Arrays.stream(values()).map(Attribute::key).toList());
      return "there is no attribute '" + key + "'" + (meant.isEmpty() ? "" : "; " + meant.strip());
    }
    if (!known.places.contains(place)) {
      return String.format(
          Locale.ROOT,
          "attribute '%s' stands at a %s, not at a %s",
          key,
          known.places.stream().map(Place::text).collect(Collectors.joining(" or a ")),
          place.text());
    }
    return (value instanceof Long) == (known.type == Type.INTEGER)
        ? null
        : String.format(
            Locale.ROOT,
            "attribute '%s' is %s, not %s",
            key,
            known.type == Type.INTEGER ? "a whole number" : "a string",
            value instanceof Long ? "a number" : "a string");
  }
}
