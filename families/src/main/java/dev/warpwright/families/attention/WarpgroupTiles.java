package dev.warpwright.families.attention;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.lower.text.TextHoles;
import dev.warpwright.workload.Attention;
import java.util.Locale;

/**
 * The tile program of an attention for warpgroups: one warp copies K and V by TMA into a ring, in
 * turns; each of the others multiplies 64 rows of Q by them with wgmma, scores become the second
 * product's operand in registers.
 *
 * <p>Tiles of keys are counted from the last key that a row sees, backwards: what lies behind an
 * entry's length is never read, and the tile that reaches over the first key has zeros there, which
 * is what TMA copies deliver from outside.
 *
 * <pre>{@code
 * for tiles of keys, the last one first:
 *   s = Q · Kᵀ, masked where a key is hidden or there is none
 *   top' = max(top, s);  f = 2^(scale · (top - top'));  p = 2^(scale · (s - top'))
 *   sum = f · sum + Σ p;  o = f · o + p · V
 * }</pre>
 */
final class WarpgroupTiles {
  private static final String PROGRAM =
      """
      primfunc $NAME(Q: $T[$BH, $R, $D], K: $T[$SLABS, $P, $D], V: $T[$SLABS, $P, $D],
          $LENGTHS $RESULTS) [consumers = $CONSUMERS, share = "rows"] {
        $BLOCKS
          {
            let h: i32 = $HEAD
            let m: i32 = $ROWS
            let length: i32 = $LENGTH
            let seen: i32 = $SEEN
            let clear: i32 = $CLEAR
            $TILES
            $SIGNAL
            pipeline q in 1 [stages = $QSTAGES] {
              alloc Qs: $T[$TM, $D] shared
              tile.copy Qs[0 +: $TM, 0 +: $D] <- Q[h, m * $TM +: $TM, 0 +: $D]
              alloc s: f32[$TM, $TN] fragment
              alloc p: $T[$TM, $TN] fragment
              alloc o: f32[$TM, $D] fragment
              alloc top: f32[$TM] fragment
              alloc factor: f32[$TM] fragment
              alloc sum: f32[$TM] fragment
              tile.fill o[0 +: $TM, 0 +: $D] = 0.0f32
              tile.fill top[0 +: $TM] = $LEAST
              tile.fill sum[0 +: $TM] = 0.0f32
              let last: i32 = $LAST
              tile.fill s[0 +: $TM, 0 +: $TN] = 0.0f32
              pipeline k in 1 [stages = $STAGES, hold = 1] {
                alloc Ks: $T[$TN, $D] shared
                tile.copy Ks[0 +: $TN, 0 +: $D] <- K[h, last +: $TN, 0 +: $D]
                tile.mma s[0 +: $TM, 0 +: $TN] += Qs[0 +: $TM, 0 +: $D] * Ks[0 +: $TN, 0 +: $D]^T
                  [instr = "wgmma.m64n$TNk16.f32.$T"]
              }
              tile.map (i in $TM, j in $TN) {
                s[i, j] = select(last + j < 0 || $LAST_HIDDEN, f32.minus_inf, s[i, j])
              }
              $WEIGHTS
              tile.map (i in $TM, j in $TN) {
                p[i, j] = $T(s[i, j])
              }
              for t in tiles - 1 {
                let first: i32 = last $ON $TN $ON t * $TN
                tile.fill s[0 +: $TM, 0 +: $TN] = 0.0f32
                pipeline k in 1 [stages = $STAGES, hold = 1] {
                  alloc Ks: $T[$TN, $D] shared
                  tile.copy Ks[0 +: $TN, 0 +: $D] <- K[h, first +: $TN, 0 +: $D]
                  tile.mma s[0 +: $TM, 0 +: $TN] += Qs[0 +: $TM, 0 +: $D] * Ks[0 +: $TN, 0 +: $D]^T
                    [instr = "wgmma.m64n$TNk16.f32.$T", inflight = 1]
                }
                pipeline v in 1 [stages = $STAGES, hold = 1] {
                  alloc Vs: $T[$TN, $D] shared
                  tile.copy Vs[0 +: $TN, 0 +: $D] <- V[h, first $BACK $TN +: $TN, 0 +: $D]
                  tile.mma o[0 +: $TM, 0 +: $D] += p[0 +: $TM, 0 +: $TN] * Vs[0 +: $TN, 0 +: $D]
                    [instr = "wgmma.m64n$Dk16.f32.$T.ra.tb", inflight = 1]
                }
                for masked in select(first + $TN > clear || first < 0, 1, 0) {
                  tile.map (i in $TM, j in $TN) {
                    s[i, j] = select(first + j < 0 || $HIDDEN, f32.minus_inf, s[i, j])
                  }
                }
                $WEIGHTS
                tile.map (i in $TM, j in $D) {
                  o[i, j] = o[i, j] * factor[i]
                }
                tile.map (i in $TM, j in $TN) {
                  p[i, j] = $T(s[i, j])
                }
              }
              pipeline v in 1 [stages = $STAGES, hold = 1] {
                alloc Vs: $T[$TN, $D] shared
                tile.copy Vs[0 +: $TN, 0 +: $D] <- V[h, last $ON (tiles - 1) * $TN +: $TN, 0 +: $D]
                tile.mma o[0 +: $TM, 0 +: $D] += p[0 +: $TM, 0 +: $TN] * Vs[0 +: $TN, 0 +: $D]
                  [instr = "wgmma.m64n$Dk16.f32.$T.ra.tb"]
              }
              $END
            }
          }
        }$CLOSE
      }
      """;

  private static final String GRID =
      """
      bind x: blockIdx.x in $ACROSS {
        bind y: blockIdx.y in $ALONG\
      """;

  private static final String GRID_OF_PARTS =
      """
      bind part: blockIdx.x in $SPLITS {
        bind x: blockIdx.y in $ACROSS {
          bind y: blockIdx.z in $ALONG\
      """;

  private static final String WHOLE =
      """
      tile.map (i in $TM) {
        factor[i] = select(sum[i] == 0.0f32, 0.0f32, 1.0f32 / sum[i])
      }
      alloc Os: $T[$TM, $D] shared
      tile.map (i in $TM, j in $D) {
        Os[i, j] = $T(o[i, j] * factor[i])
      }
      tile.copy O[h, m * $TM +: $TM, 0 +: $D] <- Os[0 +: $TM, 0 +: $D]
      """;

  private static final String PARTIAL =
      """
      tile.map (i in $TM) {
        top[i] = top[i] * $SCALE
      }
      tile.copy tops[part, h, m * $TM +: $TM] <- top[0 +: $TM]
      tile.copy totals[part, h, m * $TM +: $TM] <- sum[0 +: $TM]
      tile.copy sums[part, h, m * $TM +: $TM, 0 +: $D] <- o[0 +: $TM, 0 +: $D]
      """;

  /** Tiles of all of an entry's keys; without any there is one before the first key. */
  private static final String ALL_TILES =
      """
      let tiles: i32 = max(1, (seen + $TN_1) / $TN)
      """;

  /** A part's tiles; of an empty one the same. */
  private static final String PART_TILES =
      """
      let all: i32 = (seen + $TN_1) / $TN
      let each: i32 = (all + $SPLITS_1) / $SPLITS
      let begin: i32 = part * each
      let tiles: i32 = max(1, min(each, all - begin))
      """;

  /** Copies for the next tile of rows are under way while the last products of one are. */
  private static final String PERSISTENT =
      """
      persistent item in $ACROSS * $ALONG [blocks = $EACH] {
        let round: i32 = item / $EACH
        let place: i32 = select((round + $ROUNDS) % 2 == 1, item,
            round * $EACH + $EACH - 1 - item % $EACH)
        let x: i32 = place % $ACROSS
        let y: i32 = place / $ACROSS\
      """;

  /** Of a tile's scores: the rows' maxima, what earlier sums lose by them, weights and sums. */
  private static final String WEIGHTS =
      """
      tile.map (i in $TM) {
        factor[i] = top[i]
      }
      tile.reduce max (i in $TM; j in $TN) top[i] max= s[i, j]
      tile.map (i in $TM) {
        factor[i] = exp2_approx((factor[i] - top[i]) * $SCALE)
        sum[i] = sum[i] * factor[i]
      }
      tile.map (i in $TM, j in $TN) {
        s[i, j] = exp2_approx(fma(s[i, j], $SCALE, 0.0f32 - top[i] * $SCALE))
      }
      tile.reduce sum (i in $TM; j in $TN) sum[i] += s[i, j]
      """;

  private WarpgroupTiles() {}

  /**
   * The program.
   *
   * @param full whether all entries have all keys, and no lengths are given
   */
  static PrimFunc program(String name, Attention attention, AttentionConfig config, boolean full) {
    return holes(attention, config, full).parse(name, PROGRAM);
  }

  /**
   * The program of a step whose block makes the queries itself, of entries that are all full: it
   * goes through tiles forwards from the first key on, so that the one with the new place is the
   * last.
   */
  static PrimFunc forwards(String name, Attention attention, AttentionConfig config) {
    TextHoles holes = holes(attention, config, true);
    holes.put("LAST", 0);
    holes.put("ON", "+");
    holes.put("BACK", "-");
    return holes.parse(name, PROGRAM);
  }

  /**
   * What computes all parts and combines them in clusters.
   *
   * @param part what the program of a part became
   */
  static Kernel inClusters(Kernel part, Attention attention, AttentionConfig config, boolean full) {
    TextHoles holes = holes(attention, config, full);
    holes.put("BLOCKS", "part = $SPLITS, x = $ACROSS, y = $ALONG");
    // Maxima that parts leave have been scaled.
    return ClusterParts.of(part, holes, attention, config);
  }

  /**
   * What computes all parts, of which the last one that is done combines them.
   *
   * @param part what the program of a part became
   */
  static Kernel byLast(Kernel part, Attention attention, AttentionConfig config, boolean full) {
    TextHoles holes = holes(attention, config, full);
    holes.put("BLOCKS", "part = $SPLITS, x = $ACROSS, y = $ALONG");
    return LastPart.of(part, holes, attention, config);
  }

  /** The program of a part of entries that have all keys, which may be all of them. */
  static PrimFunc parts(String name, Attention attention, AttentionConfig config) {
    return partHoles(attention, config).parse(name, PROGRAM);
  }

  /** Of the same. */
  static TextHoles partHoles(Attention attention, AttentionConfig config) {
    return holes(attention, config.combined(AttentionConfig.Combine.LAST), true, true);
  }

  private static TextHoles holes(Attention attention, AttentionConfig config, boolean full) {
    return holes(attention, config, full, config.splits() > 1);
  }

  private static TextHoles holes(
      Attention attention, AttentionConfig config, boolean full, boolean parts) {
    int rows = config.tileRows();
    TextHoles holes = AttentionTiles.shape(attention, rows, config.tileKeys(), "first");
    int tiles = Math.ceilDiv(attention.rows(), rows);
    int tokens = attention.tokens();
    boolean whole = attention.causal() && tokens % rows == 0;
    int across = whole ? attention.heads() * attention.group() : attention.heads();
    int along = whole ? tokens / rows : tiles;
    holes.put("ACROSS", across);
    holes.put("ALONG", along);
    int blocks = Math.min(config.blocks(), across * along);
    holes.put("EACH", blocks);
    // Rows that see most come first: what runs last should be short. Of blocks that persist each
    // second round goes backwards, the last one, which is not full, forwards.
    holes.put("ROUNDS", blocks == 0 ? 0 : Math.ceilDiv(across * along, blocks));
    holes.put("BLOCKS", blocks > 0 ? PERSISTENT : parts ? GRID_OF_PARTS : GRID);
    holes.put("CLOSE", parts ? "}" : "");
    holes.put("QSTAGES", blocks == 0 ? 1 : 2);
    holes.put("HEAD", whole ? "x / " + attention.group() : "x");
    holes.put(
        "ROWS",
        whole
            ? String.format(
                Locale.ROOT,
                "x %% %d * %d + %d - y",
                attention.group(),
                tokens / rows,
                tokens / rows - 1)
            : tiles - 1 + " - y");
    AttentionTiles.lengths(holes, attention, full);
    // What combines may be launched when all blocks have begun.
    holes.put("SIGNAL", config.hasLaunchBehind() ? "griddepcontrol.launch_dependents()" : "");
    holes.put("SPLITS", config.splits());
    holes.put("SPLITS_1", config.splits() - 1);
    holes.put("TILES", parts ? PART_TILES : ALL_TILES);
    holes.put("LAST", parts ? "select(begin < all, seen - $TN - begin * $TN, -$TN)" : "seen - $TN");
    holes.put("ON", "-");
    holes.put("BACK", "+");
    holes.put("END", parts ? PARTIAL : WHOLE);
    holes.put("RESULTS", parts ? AttentionTiles.PARTS : "O: $T[$BH, $R, $D]");
    holes.put("WEIGHTS", WEIGHTS);
    holes.put(
        "LAST_HIDDEN",
        AttentionTiles.shape(attention, rows, config.tileKeys(), "last").get("HIDDEN"));
    holes.put("CONSUMERS", config.tileRows() / 64);
    holes.put("STAGES", config.stages());
    // Times the scale it is a number yet.
    double scale = attention.scale() * Math.log(Math.E) / Math.log(2);
    holes.put("LEAST", String.format(Locale.ROOT, "%.9ef32", -3e38 / Math.max(1, scale)));
    return holes;
  }
}
