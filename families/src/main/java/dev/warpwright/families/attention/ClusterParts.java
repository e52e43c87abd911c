package dev.warpwright.families.attention;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Lets the blocks that have the parts of an entry's keys be a cluster, which combines them: a
 * launch less. Parts go through memory, that is L2, as for a launch that combines; behind a barrier
 * of the cluster each block makes an equal share of the result of all of them.
 *
 * <pre>{@code
 * kernel part(…, tops, totals, sums) grid(part = 8, m, h) { … }
 * →
 * kernel part(…, tops, totals, sums, O) grid(part = 8, m, h) [cluster = 8] {
 *   …
 *   cluster.sync()
 *   its share of O: columns of rows, of which each thread adds up all parts
 * }
 * }</pre>
 */
final class ClusterParts {
  /** Most blocks of a cluster that every GPU with clusters has (CUDA C++ Programming Guide). */
  static final int MOST = 8;

  /** So many turns are written out, so that all that they read is under way at once. */
  private static final int UNROLLED = 4;

  private static final String TEXT =
      """
      kernel combined($PARTS, O: $T[$BH, $R, $D])
          grid(part = $SPLITS, m = $TILES, h = $BH) block(tid = $THREADS) {
        cluster.sync()
        $EACH q in $TURNS {
          let e: i32 = (q * $SPLITS + part) * $THREADS + tid
          let r: i32 = m * $TM + e / $D
          let j: i32 = e % $D
          if e < $USED && r < $R {
            $COMBINED
          }
        }
      }
      """;

  private ClusterParts() {}

  /**
   * The kernel of all parts.
   *
   * @param part computes one, in a grid of parts, tiles of rows, heads
   * @param holes what the tile program was made of
   */
  static Kernel of(Kernel part, TextHoles holes, Attention attention, AttentionConfig config) {
    int used = Math.min(config.tileRows(), attention.rows()) * attention.headSize();
    int turns = Math.ceilDiv(used, config.splits() * config.threads());
    holes.put("PARTS", AttentionTiles.PARTS);
    holes.put("USED", used);
    holes.put("TURNS", turns);
    holes.put("EACH", turns <= UNROLLED ? "unroll" : "for");
    Kernel combined = new IrParser(Intrinsics::find).kernel("combined", holes.filled(TEXT));
    Map<Var, Expr> vars = new HashMap<>();
    for (ThreadBinding binding : combined.bindings()) {
      part.bindings().stream()
          .filter(own -> own.axis() == binding.axis())
          .forEach(own -> vars.put(binding.var(), own.var()));
    }
    Map<Buffer, Buffer> buffers = new HashMap<>();
    List<Param> params = new ArrayList<>(part.params());
    for (Param param : combined.params()) {
      Param known =
          part.params().stream()
              .filter(p -> p.name().equals(param.name()))
              .findFirst()
              .orElse(null);
      if (known == null) {
        params.add(param);
      } else {
        buffers.put((Buffer) param, (Buffer) known);
      }
    }
    Stmt behind = new Substitution(vars, buffers).stmt(combined.body());
    return new Kernel(
        part.name().replace("_part", ""),
        part.kind(),
        params,
        part.bindings(),
        Stmts.seq(part.body(), behind),
        part.attrs().with("cluster", config.splits()));
  }
}
