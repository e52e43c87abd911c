package dev.warpwright.families.attention;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.lower.text.TextHoles;
import dev.warpwright.workload.Attention;
import java.util.Locale;

/**
 * The tile programs of an attention. A block has rows of Q that share keys, and goes through a part
 * of its entry's keys, tile by tile, with the rows' running maxima and sums; scores, weights and
 * sums stay in registers.
 *
 * <pre>{@code
 * for each tile of keys:
 *   s = Q · Kᵀ, masked; top' = max(top, scale · s);  f = 2^(top - top');  p = 2^(scale · s - top')
 *   sum = f · sum + Σ p;  o = f · o + p · V
 * }</pre>
 *
 * <p>Maxima begin at the least finite number, so that no difference of infinities arises where
 * nothing is seen.
 */
final class AttentionTiles {
  private static final String LEAST = "-3.4028235e38f32";

  /** Parameters of what parts leave. */
  static final String PARTS =
      "tops: f32[$SPLITS, $BH, $R], totals: f32[$SPLITS, $BH, $R],"
          + " sums: f32[$SPLITS, $BH, $R, $D]";

  private static final String PART =
      """
      primfunc $NAME(Q: $T[$BH, $R, $D], K: $T[$SLABS, $P, $D], V: $T[$SLABS, $P, $D],
          $LENGTHS$TABLE$RESULTS) [threads = $THREADS] {
        bind part: blockIdx.x in $SPLITS {
          bind m: blockIdx.y in $TILES {
            bind h: blockIdx.z in $BH {
              $SIGNAL
              let length: i32 = $LENGTH
              let seen: i32 = $SEEN
              let clear: i32 = $CLEAR
              let all: i32 = (seen + $TN_1) / $TN
              let each: i32 = (all + $SPLITS_1) / $SPLITS
              let begin: i32 = part * each
              alloc Qs: $T[$TM, $DP] shared
              tile.copy Qs[0 +: $TM, 0 +: $DP] <- Q[h, m * $TM +: $TM, 0 +: $DP]
              alloc o: f32[$TM, $DP] fragment
              alloc top: f32[$TM] fragment
              alloc factor: f32[$TM] fragment
              alloc sum: f32[$TM] fragment
              tile.fill o[0 +: $TM, 0 +: $DP] = 0.0f32
              tile.fill top[0 +: $TM] = $LEAST
              tile.fill sum[0 +: $TM] = 0.0f32
              $LOOP t in begin +: max(0, min(each, all - begin))$STAGES {
                alloc Ks: $T[$TN, $DP] shared
                alloc Vs: $T[$TN, $DP] shared
                alloc s: f32[$TM, $TN] fragment
                alloc p: $T[$TM, $TN] fragment
                $COPIES
                tile.fill s[0 +: $TM, 0 +: $TN] = 0.0f32
                tile.mma s[0 +: $TM, 0 +: $TN] += Qs[0 +: $TM, 0 +: $DP] * Ks[0 +: $TN, 0 +: $DP]^T
                  [instr = "mma.m16n8k16.f32.$T", warpsM = $WARPS, warpsN = 1]
                for masked in select(t * $TN + $TN > clear, 1, 0) {
                  tile.map (i in $TM, j in $TN) {
                    s[i, j] = select($HIDDEN, f32.minus_inf, s[i, j])
                  }
                }
                tile.map (i in $TM) {
                  factor[i] = top[i]
                }
                tile.reduce max (i in $TM; j in $TN) top[i] max= s[i, j] * $SCALE
                tile.map (i in $TM) {
                  factor[i] = exp2_approx(factor[i] - top[i])
                  sum[i] = sum[i] * factor[i]
                }
                tile.map (i in $TM, j in $TN) {
                  s[i, j] = exp2_approx(fma(s[i, j], $SCALE, 0.0f32 - top[i]))
                }
                tile.reduce sum (i in $TM; j in $TN) sum[i] += s[i, j]
                tile.map (i in $TM, j in $TN) {
                  p[i, j] = $T(s[i, j])
                }
                tile.map (i in $TM, j in $DP) {
                  o[i, j] = o[i, j] * factor[i]
                }
                for last in select(t * $TN + $TN > length, 1, 0) {
                  tile.map (i in $TN, j in $DP) {
                    Vs[i, j] = select(t * $TN + i < length, Vs[i, j], 0.0$T)
                  }
                  $MET
                }
                tile.mma o[0 +: $TM, 0 +: $DP] += p[0 +: $TM, 0 +: $TN] * Vs[0 +: $TN, 0 +: $DP]
                  [instr = "mma.m16n8k16.f32.$T", warpsM = $WARPS, warpsN = 1]
              }
              $END
            }
          }
        }
      }
      """;

  private static final String WHOLE =
      """
      tile.map (i in $TM) {
        factor[i] = select(sum[i] == 0.0f32, 0.0f32, 1.0f32 / sum[i])
      }
      tile.map (i in $TM, j in $DP) {
        o[i, j] = o[i, j] * factor[i]
      }
      tile.copy O[h, m * $TM +: $TM, 0 +: $DP] <- o[0 +: $TM, 0 +: $DP]
      """;

  private static final String PARTIAL =
      """
      tile.copy tops[part, h, m * $TM +: $TM] <- top[0 +: $TM]
      tile.copy totals[part, h, m * $TM +: $TM] <- sum[0 +: $TM]
      tile.copy sums[part, h, m * $TM +: $TM, 0 +: $DP] <- o[0 +: $TM, 0 +: $DP]
      """;

  /** An element of the result, of all parts; holes say where part {@code p} has its own. */
  static final String COMBINED =
      """
      alloc top: f32[1] local
      alloc total: f32[1] local
      alloc sum: f32[1] local
      top[0] = $LEAST
      unroll p in $SPLITS {
        top[0] = max(top[0], $TOP)
      }
      total[0] = 0.0f32
      sum[0] = 0.0f32
      unroll p in $SPLITS {
        let weight: f32 = exp2_approx($TOP - top[0])
        total[0] = fma(weight, $TOTAL, total[0])
        sum[0] = fma(weight, $SUM, sum[0])
      }
      O[h, r, j] = $T(select(total[0] == 0.0f32, 0.0f32, sum[0] / total[0]))
      """;

  /**
   * A thread a column, so that nothing is exchanged, and all that it reads is under way at once: it
   * waits for memory once or twice, where the maxima in shared memory would make it four times.
   */
  private static final String COMBINE =
      """
      primfunc $NAME(tops: f32[$SPLITS, $BH, $R], totals: f32[$SPLITS, $BH, $R],
          sums: f32[$SPLITS, $BH, $R, $D], O: $T[$BH, $R, $D])$CONSTANTS {
        bind c: blockIdx.x in ($D + $COLUMNS - 1) / $COLUMNS {
          bind r: blockIdx.y in $R {
            bind h: blockIdx.z in $BH {
              bind i: threadIdx.x in $COLUMNS {
                $WAIT
                let j: i32 = c * $COLUMNS + i
                if j < $D {
                  $COMBINED
                }
              }
            }
          }
        }
      }
      """;

  /** Blocks of a warp each, while there are no more of them; then whole rows. */
  private static final int MOST_WARPS = 2048;

  private final Attention attention;
  private final AttentionConfig config;
  private final TextHoles holes;

  /**
   * Those of a configuration.
   *
   * @param full whether all entries have all keys, and no lengths are given
   */
  AttentionTiles(Attention attention, AttentionConfig config, boolean full) {
    this.attention = attention;
    this.config = config;
    this.holes = shape(attention, config.tileRows(), config.tileKeys());
    lengths(holes, attention, full);
    holes.put("DP", Math.ceilDiv(attention.headSize(), 16) * 16);
    holes.put("SPLITS", config.splits());
    holes.put("SPLITS_1", config.splits() - 1);
    holes.put("WARPS", config.warps());
    boolean ring = config.stages() > 1;
    holes.put("LOOP", ring ? "pipeline" : "for");
    holes.put("STAGES", ring ? " [stages = " + config.stages() + "]" : "");
    // All of a block come here or none; said here, there is none where nothing was changed.
    holes.put("MET", ring ? "sync_threads()" : "");
  }

  /** As below, where tile {@code t} has the keys from {@code t} times its size on. */
  static TextHoles shape(Attention attention, int tileRows, int tileKeys) {
    return shape(attention, tileRows, tileKeys, "t * $TN");
  }

  /**
   * What programs for any target say of an attention: shapes, and, of tile {@code m} of rows, how
   * many keys are seen, up to which none is hidden, and which are.
   *
   * @param first the first key of a tile
   */
  static TextHoles shape(Attention attention, int tileRows, int tileKeys, String first) {
    TextHoles holes = new TextHoles();
    holes.put("T", attention.type().text());
    holes.put("B", attention.batch());
    holes.put("BH", attention.heads());
    holes.put("HKV", attention.kvHeads());
    holes.put("R", attention.rows());
    holes.put("D", attention.headSize());
    holes.put("SLABS", attention.slabs());
    holes.put("P", attention.slabKeys());
    holes.put(
        "TABLE", attention.isPaged() ? "table: i32[$B, " + attention.pagesEach() + "], " : "");
    holes.put("TM", tileRows);
    holes.put("TN", tileKeys);
    holes.put("TN_1", tileKeys - 1);
    holes.put("TILES", Math.ceilDiv(attention.rows(), tileRows));
    holes.put("LEAST", LEAST);
    // Powers of two: of e, the exponent is so many times larger.
    double scale = attention.scale() * Math.log(Math.E) / Math.log(2);
    holes.put("SCALE", String.format(Locale.ROOT, "%.9ef32", scale));
    int tokens = attention.tokens();
    if (!attention.causal()) {
      holes.put("SEEN", "length");
      holes.put("CLEAR", "length");
      holes.put("HIDDEN", first + " + j >= length");
      return holes;
    }
    holes.put("FIRST", "m * $TM % " + tokens);
    // The last token of the tile's rows: the last one at all, where they are of several heads.
    int more = Math.min(tileRows, attention.rows()) - 1;
    String last = "min($FIRST + " + more + ", " + (tokens - 1) + ")";
    holes.put("SEEN", "max(0, min(length, length - " + (tokens - 1) + " + " + last + "))");
    holes.put(
        "CLEAR",
        "length - " + (tokens - 1) + " + select($FIRST + $TM > " + tokens + ", 0, $FIRST)");
    holes.put("HIDDEN", first + " + j > length - " + tokens + " + (m * $TM + i) % " + tokens);
    return holes;
  }

  /** Where the length of an entry's head {@code h} comes from. */
  static void lengths(TextHoles holes, Attention attention, boolean full) {
    holes.put("LENGTHS", full ? "" : "lengths: i32[$B], ");
    holes.put("LENGTH", full ? attention.keys() : "lengths[h / $HKV]");
  }

  /**
   * What computes O, or each part's maxima, sums of weights and sums of weighted values.
   *
   * @param early whether what combines parts may be launched when all blocks have begun
   */
  PrimFunc part(String name, boolean early) {
    boolean whole = config.splits() == 1;
    holes.put(
        "SIGNAL", early && config.hasLaunchBehind() ? "griddepcontrol.launch_dependents()" : "");
    holes.put("THREADS", config.threads());
    holes.put("RESULTS", whole ? "O: $T[$BH, $R, $D]" : PARTS);
    holes.put("END", whole ? WHOLE : PARTIAL);
    holes.put("COPIES", copies());
    return holes.parse(name, PART);
  }

  /** What computes all parts and combines them in clusters. */
  Kernel inClusters(Kernel part) {
    holes.put("BLOCKS", "part = $SPLITS, m = $TILES, head = $BH");
    holes.put("HEAD", "head");
    holes.put("ROWS", "m");
    return ClusterParts.of(part, holes, attention, config);
  }

  /** What computes all parts, of which the last one that is done combines them. */
  Kernel byLast(Kernel part) {
    holes.put("BLOCKS", "part = $SPLITS, m = $TILES, head = $BH");
    holes.put("HEAD", "head");
    holes.put("ROWS", "m");
    return LastPart.of(part, holes, attention, config);
  }

  private String copies() {
    return copy("K") + "\n" + copy("V");
  }

  private String copy(String cache) {
    int keys = config.tileKeys();
    int page = attention.page();
    if (!attention.isPaged()) {
      return String.format(
          Locale.ROOT,
          "tile.copy %ss[0 +: $TN, 0 +: $DP] <- %s[h, t * $TN +: $TN, 0 +: $DP]",
          cache,
          cache);
    }
    if (page % keys == 0) {
      return String.format(
          Locale.ROOT,
          "tile.copy %ss[0 +: $TN, 0 +: $DP]"
              + " <- %s[table[h / $HKV, t * $TN / %d] * $HKV + h %% $HKV,"
              + " t * $TN %% %d +: $TN, 0 +: $DP]",
          cache,
          cache,
          page,
          page);
    }
    // Of the pages behind the length the table says nothing; page 0 is as good as any.
    return String.format(
        Locale.ROOT,
        "for page in %d { tile.copy %ss[page * %d +: %d, 0 +: $DP]"
            + " <- %s[select(t * $TN + page * %d < length, table[h / $HKV, t * %d + page], 0)"
            + " * $HKV + h %% $HKV, 0 +: %d, 0 +: $DP] }",
        keys / page,
        cache,
        page,
        page,
        cache,
        page,
        keys / page,
        page);
  }

  /**
   * What makes O of the parts, in loops over threads.
   *
   * @param early whether it is launched while parts are computed, and waits for them
   */
  PrimFunc combine(String name, boolean early) {
    int warps = Math.ceilDiv(attention.headSize(), 32);
    boolean many = (long) attention.heads() * attention.rows() * warps > MOST_WARPS;
    holes.put("COLUMNS", many ? warps * 32 : 32);
    holes.put("COMBINED", COMBINED);
    holes.put("TOP", "tops[p, h, r]");
    holes.put("TOTAL", "totals[p, h, r]");
    holes.put("SUM", "sums[p, h, r, j]");
    holes.put("WAIT", early ? "griddepcontrol.wait()" : "");
    holes.put("CONSTANTS", early ? " [constants = \"\"]" : "");
    return holes.parse(name, COMBINE);
  }
}
