package dev.warpwright.families.attention;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmts;
import dev.warpwright.lower.text.BoundText;
import dev.warpwright.lower.text.TextHoles;
import dev.warpwright.workload.Attention;

/**
 * Lets the block that is done last with a part of an entry's keys combine all of them: a launch
 * less, for any number of parts, on any GPU. Parts are in memory as a launch that combines would
 * find them, and are added up in the same order, so the bits are the same, whoever is last.
 *
 * <pre>{@code
 * kernel part(…, tops, totals, sums) grid(part = 16, m, h) { …; sums[part, h, r, j] = … }
 * →
 * kernel part(…, tops, totals, sums, O, counters) grid(part = 16, m, h) [zero = "counters"] {
 *   …; sums[part, h, r, j] = …
 *   barrier; one thread: turn = counters[h, m]++; barrier
 *   if turn == 15 { counters[h, m] = 0; O = of all parts }
 * }
 * }</pre>
 *
 * <p>Taking a number releases what all threads of the block wrote, for the barrier before it, and
 * acquires what those with lower numbers released. Nobody waits, so no order of blocks can lead to
 * a deadlock. Counters are zero again after each launch.
 */
final class LastPart {
  /** The parameter that counts parts that are done. */
  static final String COUNTERS = "counters";

  /** So many registers may hold what a thread reads of several parts. */
  private static final int REGISTERS = 96;

  /** Elements of 16 bytes. */
  private static final int VECTOR = 4;

  private static final String TEXT =
      """
      kernel combined($PARTS, O: $T[$BH, $R, $D], counters: u32[$BH, $TILES])
          grid($BLOCKS) block(tid = $THREADS) {
        alloc turn: u32[1] shared
        sync_threads()
        if tid == 0 {
          turn[0] = atomic.add.acq_rel.u32(&counters[$HEAD, $ROWS], 1u32)
        }
        sync_threads()
        if turn[0] == $SPLITS_1u32 {
          if tid == 0 {
            counters[$HEAD, $ROWS] = 0u32
          }
          $COMBINE
        }
      }
      """;

  /** What the threads of a block do, each with some columns of a row at a time. */
  private static final String COMBINE =
      """
      for q in $TURNS {
        let e: i32 = (q * $THREADS + tid) * $W
        let i: i32 = e / $D
        let j: i32 = e % $D
        let h: i32 = $HEAD
        let r: i32 = ($ROWS) * $TM + i
        if e < $USED && r < $R {
          alloc top: f32[1] local
          alloc total: f32[1] local
          alloc sum: f32[$W] local
          alloc result: $T[$W] local align $ALIGN
          top[0] = $LEAST
          total[0] = 0.0f32
          unroll v in $W {
            sum[v] = 0.0f32
          }
          $COMBINED
          unroll v in $W {
            result[v] = $T(select(total[0] == 0.0f32, 0.0f32, sum[v] / total[0]))
          }
          let to: i32 = $TO
          $RESULT = result[$ALL]
        }
      }
      """;

  /** Few parts: all that is read of them is under way at once. */
  private static final String AT_ONCE =
      """
      alloc topOf: f32[$SPLITS] local
      alloc totalOf: f32[$SPLITS] local
      alloc sumOf: f32[$OF_ALL] local align 16
      unroll p in $SPLITS {
        topOf[p] = tops[p, h, r]
        totalOf[p] = totals[p, h, r]
        sumOf[$OF_PART] = sums[p, h, r, $COLUMNS]
      }
      unroll p in $SPLITS {
        top[0] = max(top[0], topOf[p])
      }
      unroll p in $SPLITS {
        let weight: f32 = exp2_approx(topOf[p] - top[0])
        total[0] = fma(weight, totalOf[p], total[0])
        unroll v in $W {
          sum[v] = fma(weight, sumOf[p * $W + v], sum[v])
        }
      }
      """;

  /** Many: maxima first, then some parts at a time. Of those behind the last one nothing counts. */
  private static final String IN_TURNS =
      """
      for c in ($SPLITS + $CHUNK - 1) / $CHUNK {
        unroll p in $CHUNK {
          top[0] = max(top[0], tops[min(c * $CHUNK + p, $SPLITS_1), h, r])
        }
      }
      for c in ($SPLITS + $CHUNK - 1) / $CHUNK {
        alloc topOf: f32[$CHUNK] local
        alloc totalOf: f32[$CHUNK] local
        alloc sumOf: f32[$OF_ALL] local align 16
        unroll p in $CHUNK {
          let from: i32 = min(c * $CHUNK + p, $SPLITS_1)
          topOf[p] = tops[from, h, r]
          totalOf[p] = totals[from, h, r]
          sumOf[$OF_PART] = sums[from, h, r, $COLUMNS]
        }
        unroll p in $CHUNK {
          let weight: f32 = select(c * $CHUNK + p < $SPLITS, exp2_approx(topOf[p] - top[0]), 0.0f32)
          total[0] = fma(weight, totalOf[p], total[0])
          unroll v in $W {
            sum[v] = fma(weight, sumOf[p * $W + v], sum[v])
          }
        }
      }
      """;

  private LastPart() {}

  /**
   * The kernel of all parts.
   *
   * @param part computes one, in a grid of parts and two more axes
   * @param holes what the tile program was made of: its axes, and the head and tile of rows there
   */
  static Kernel of(Kernel part, TextHoles holes, Attention attention, AttentionConfig config) {
    holes.put("PARTS", AttentionTiles.PARTS);
    holes.put(
        "COMBINE", combining(holes, attention, config, part.threadsPerBlock(), "O[h, r", "j"));
    holes.put("TILES", Math.ceilDiv(attention.rows(), config.tileRows()));
    BoundText combined = BoundText.of(part, holes.filled(TEXT));
    return new Kernel(
        part.name().replace("_part", ""),
        part.kind(),
        combined.params(),
        part.bindings(),
        Stmts.seq(part.body(), combined.body()),
        part.attrs().with("zero", COUNTERS));
  }

  /**
   * What combines all parts of a head, by a block of so many threads.
   *
   * @param row where a row of the result is, but for the end of its indices
   * @param to where columns of the head from {@code j} on are in it
   */
  static String combining(
      TextHoles holes,
      Attention attention,
      AttentionConfig config,
      int threads,
      String row,
      String to) {
    int used = Math.min(config.tileRows(), attention.rows()) * attention.headSize();
    // One turn, if vectors are wide enough for it: each turn waits for memory anew.
    int lanes = 1;
    while (lanes < VECTOR && used > threads * lanes) {
      lanes *= 2;
    }
    int chunk = REGISTERS / (lanes + 2);
    boolean few = config.splits() <= chunk;
    holes.put("COMBINED", few ? AT_ONCE : IN_TURNS);
    holes.put("THREADS", threads);
    holes.put("USED", used);
    holes.put("TURNS", Math.ceilDiv(used, threads * lanes));
    holes.put("CHUNK", chunk);
    holes.put("W", lanes);
    holes.put("OF_ALL", lanes * (few ? config.splits() : chunk));
    holes.put("ALIGN", lanes * attention.type().bytes());
    holes.put("COLUMNS", lanes == 1 ? "j" : "ramp(j, 1, $W)");
    holes.put("TO", to);
    holes.put("RESULT", row + (lanes == 1 ? ", to]" : ", ramp(to, 1, " + lanes + ")]"));
    holes.put("OF_PART", lanes == 1 ? "p" : "ramp(p * $W, 1, $W)");
    holes.put("ALL", lanes == 1 ? "0" : "ramp(0, 1, $W)");
    return COMBINE;
  }
}
