package dev.warpwright.families.attention;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.lower.host.HostLowering;
import dev.warpwright.lower.text.TextHoles;
import dev.warpwright.target.HostTarget;
import dev.warpwright.workload.Attention;
import java.util.Locale;
import java.util.Set;

/**
 * Attention on the CPU: cores share the heads and tiles of rows; vectors go along a head. Of a tile
 * of keys the scores of all rows are computed, then the values are added up key by key, so that
 * keys and values are read once for all heads of a group. Nothing but the result is rounded to the
 * operands' type.
 */
public final class HostAttention {
  private static final int MOST_ROWS = 16;
  private static final int KEYS = 64;

  private static final String PROGRAM =
      """
      primfunc $NAME(Q: $T[$BH, $R, $D], K: $T[$SLABS, $P, $D], V: $T[$SLABS, $P, $D],
          lengths: i32[$B], $TABLE O: $T[$BH, $R, $D]) {
        parallel one in $BLOCKS {
          let h: i32 = one / $TILES
          let m: i32 = one % $TILES
          let length: i32 = lengths[h / $HKV]
          let seen: i32 = $SEEN
          alloc q: f32[$TM, $D] local
          alloc o: f32[$TM, $D] local
          alloc s: f32[$TM, $TN] local
          alloc top: f32[$TM] local
          alloc factor: f32[$TM] local
          alloc sum: f32[$TM] local
          tile.copy q[0 +: $TM, 0 +: $D] <- Q[h, m * $TM +: $TM, 0 +: $D]
          tile.fill o[0 +: $TM, 0 +: $D] = 0.0f32
          tile.fill top[0 +: $TM] = $LEAST
          tile.fill sum[0 +: $TM] = 0.0f32
          for t in (seen + $TN_1) / $TN {
            let count: i32 = min($TN, seen - t * $TN)
            tile.fill s[0 +: $TM, 0 +: $TN] = 0.0f32
            for j in count {
              let slab: i32 = $SLAB
              let row: i32 = $ROW
              tile.reduce sum (i in $TM; c in $D) s[i, j] += q[i, c] * f32(K[slab, row, c])
            }
            tile.map (i in $TM, j in $TN) {
              s[i, j] = select($HIDDEN, f32.minus_inf, s[i, j] * $SCALE)
            }
            tile.map (i in $TM) {
              factor[i] = top[i]
            }
            tile.reduce max (i in $TM; j in $TN) top[i] max= s[i, j]
            tile.map (i in $TM) {
              factor[i] = exp2(factor[i] - top[i])
              sum[i] = sum[i] * factor[i]
            }
            tile.map (i in $TM, j in $TN) {
              s[i, j] = exp2(s[i, j] - top[i])
            }
            tile.reduce sum (i in $TM; j in $TN) sum[i] += s[i, j]
            tile.map (i in $TM, c in $D) {
              o[i, c] = o[i, c] * factor[i]
            }
            for j in count {
              let slab: i32 = $SLAB
              let row: i32 = $ROW
              tile.map (i in $TM, c in $D) {
                o[i, c] = fma(s[i, j], f32(V[slab, row, c]), o[i, c])
              }
            }
          }
          tile.map (i in $TM) {
            factor[i] = select(sum[i] == 0.0f32, 0.0f32, 1.0f32 / sum[i])
          }
          tile.map (i in $TM, c in $D) {
            o[i, c] = o[i, c] * factor[i]
          }
          tile.copy O[h, m * $TM +: $TM, 0 +: $D] <- o[0 +: $TM, 0 +: $D]
        }
      }
      """;

  private HostAttention() {}

  /** The tile program; parameters as of {@link Attention#func}. */
  public static PrimFunc program(Attention attention) {
    int rows = Math.min(MOST_ROWS, attention.rows());
    TextHoles holes = AttentionTiles.shape(attention, rows, KEYS);
    holes.put("BLOCKS", "$BH * $TILES");
    holes.put(
        "SLAB",
        attention.isPaged() ? "table[h / $HKV, (t * $TN + j) / $P] * $HKV + h % $HKV" : "h");
    holes.put("ROW", attention.isPaged() ? "(t * $TN + j) % $P" : "t * $TN + j");
    return holes.parse(
        String.format(Locale.ROOT, "attention_%s_host", attention.type().text()), PROGRAM);
  }

  /** The host kernel. */
  public static Kernel kernel(Attention attention, HostTarget target) {
    return HostLowering.lower(program(attention), target, Set.of()).kernel();
  }
}
