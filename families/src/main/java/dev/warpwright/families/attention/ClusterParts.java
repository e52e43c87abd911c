package dev.warpwright.families.attention;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.text.BoundText;
import dev.warpwright.lower.text.TextHoles;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Lets the blocks that have the parts of an entry's keys be a cluster, which combines them: a
 * launch less. Each leaves its part in its own shared memory; behind a barrier of the cluster each
 * reads an equal share of the result from all of them, and none ends before all have read.
 *
 * <pre>{@code
 * kernel part(…, tops, totals, sums) grid(part = 8, m, h) { …; sums[part, h, r, j] = … }
 * →
 * kernel part(…, O) grid(part = 8, m, h) [cluster = 8] {
 *   …; ownSums[r, j] = …
 *   cluster.sync()
 *   its share of O: columns of rows, of which each thread adds up all parts
 *   cluster.sync()
 * }
 * }</pre>
 */
final class ClusterParts {
  /** Most blocks of a cluster that every GPU with clusters has (CUDA C++ Programming Guide). */
  static final int MOST = 8;

  /** So many turns are written out, so that all that they read is under way at once. */
  private static final int UNROLLED = 4;

  /** What holds a part's results in shared memory, by the parameter that held all parts'. */
  private static final Map<String, String> PARTS =
      Map.of("tops", "ownTops", "totals", "ownTotals", "sums", "ownSums");

  /** Where {@code sync_threads} stands, the part's code will. */
  private static final String TEXT =
      """
      kernel combined(O: $T[$BH, $R, $D]) grid($BLOCKS) block(tid = $THREADS) {
        alloc ownTops: f32[$OWN] shared
        alloc ownTotals: f32[$OWN] shared
        alloc ownSums: f32[$OWN, $D] shared
        sync_threads()
        cluster.sync()
        $EACH q in $TURNS {
          let e: i32 = (q * $SPLITS + part) * $THREADS + tid
          let i: i32 = e / $D
          let j: i32 = e % $D
          let h: i32 = $HEAD
          let r: i32 = ($ROWS) * $TM + i
          if e < $USED && r < $R {
            alloc tops: f32[$SPLITS] local
            alloc totals: f32[$SPLITS] local
            alloc sums: f32[$SPLITS] local
            unroll p in $SPLITS {
              tops[p] = cluster.load.f32(&ownTops[i], p)
              totals[p] = cluster.load.f32(&ownTotals[i], p)
              sums[p] = cluster.load.f32(&ownSums[i, j], p)
            }
            $COMBINED
          }
        }
        cluster.sync()
      }
      """;

  private ClusterParts() {}

  /** Bytes of shared memory that a block's part takes. */
  static int sharedBytes(Attention attention, AttentionConfig config) {
    return own(attention, config) * (attention.headSize() + 2) * DType.F32.bytes();
  }

  private static int own(Attention attention, AttentionConfig config) {
    return Math.min(config.tileRows(), attention.rows());
  }

  /**
   * The kernel of all parts.
   *
   * @param part computes one, in a grid of parts and two more axes
   * @param holes what the tile program was made of: its axes, and the head and tile of rows there
   */
  static Kernel of(Kernel part, TextHoles holes, Attention attention, AttentionConfig config) {
    int own = own(attention, config);
    int used = own * attention.headSize();
    long threads =
        part.bindings().stream()
            .filter(binding -> binding.axis() == ThreadAxis.THREAD_X)
            .mapToLong(binding -> ((Expr.IntImm) binding.extent()).value())
            .findFirst()
            .orElseThrow();
    long turns = Math.ceilDiv(used, config.splits() * threads);
    holes.put("COMBINED", AttentionTiles.COMBINED);
    holes.put("TOP", "tops[p]");
    holes.put("TOTAL", "totals[p]");
    holes.put("SUM", "sums[p]");
    holes.put("OWN", own);
    holes.put("USED", used);
    holes.put("THREADS", threads);
    holes.put("TURNS", turns);
    holes.put("EACH", turns <= UNROLLED ? "unroll" : "for");
    BoundText combined = BoundText.of(part, holes.filled(TEXT));
    Stmt first = inShared(part.body(), combined.body(), config, attention.rows() <= own);
    Stmt all =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            return s.equals(Exprs.evaluate(Intrinsics.SYNC_THREADS)) ? first : super.stmt(s);
          }
        }.stmt(combined.body());
    List<Param> params = new ArrayList<>(combined.params());
    params.removeIf(param -> PARTS.containsKey(param.name()));
    return new Kernel(
        part.name().replace("_part", ""),
        part.kind(),
        params,
        part.bindings(),
        all,
        part.attrs().with("cluster", config.splits()));
  }

  /**
   * The part's code, which leaves its results in shared memory.
   *
   * @param combined begins with the allocations there
   * @param one whether there is one tile of rows, so that each row is where its number says
   */
  private static Stmt inShared(Stmt part, Stmt combined, AttentionConfig config, boolean one) {
    Map<String, Buffer> own = new HashMap<>();
    for (Stmt s = combined; s instanceof Stmt.Alloc alloc; s = alloc.body()) {
      own.put(alloc.buffer().name(), alloc.buffer());
    }
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        if (s instanceof Stmt.Store(Buffer buffer, List<Expr> indices, Expr value)
            && PARTS.containsKey(buffer.name())) {
          // Of part, head, row and column the latter two.
          List<Expr> left = new ArrayList<>(indices.subList(2, indices.size()));
          if (!one) {
            left.set(0, Exprs.mod(left.getFirst(), config.tileRows()));
          }
          Buffer mine = Objects.requireNonNull(own.get(PARTS.get(buffer.name())));
          return new Stmt.Store(mine, left, expr(value));
        }
        return super.stmt(s);
      }
    }.stmt(part);
  }
}
