package dev.warpwright.examples.lowering;

import dev.warpwright.ir.PrimFunc;
import java.util.Locale;
import java.util.Map;

/**
 * Gate and up projection of a gated feed-forward network with SwiGLU between them, in one kernel:
 * {@code H = silu(X · Gᵀ) ∘ (X · Uᵀ)}. Both GEMMs read the same tiles of X, stage by stage of one
 * ring, and add to accumulators of their own; what is gated never leaves the registers.
 *
 * @param type f16 or bf16
 * @param rows of X
 * @param depth columns of X
 * @param hidden columns of H
 * @param columns of a tile of H
 * @param stages of the ring
 * @param consumers warpgroups that share the rows of a tile, 64 each
 */
public record GatedProjections(
    String type, int rows, int depth, int hidden, int columns, int stages, int consumers)
    implements HandWritten {
  private static final String PROGRAM =
      """
      primfunc $NAME(X: $T[$M, $K], G: $T[$N, $K], U: $T[$N, $K], H: $T[$M, $N])
          [consumers = $CONSUMERS, share = "rows"] {
        bind m: blockIdx.x in ($M + $TM - 1) / $TM {
          bind n: blockIdx.y in ($N + $TN - 1) / $TN {
            alloc gate: f32[$TM, $TN] fragment
            alloc up: f32[$TM, $TN] fragment
            tile.fill gate[0 +: $TM, 0 +: $TN] = 0.0f32
            tile.fill up[0 +: $TM, 0 +: $TN] = 0.0f32
            pipeline k in ($K + 63) / 64 [hold = 1, stages = $STAGES] {
              alloc Xs: $T[$TM, 64] shared
              alloc Gs: $T[$TN, 64] shared
              alloc Us: $T[$TN, 64] shared
              tile.copy Xs[0 +: $TM, 0 +: 64] <- X[m * $TM +: $TM, k * 64 +: 64]
              tile.copy Gs[0 +: $TN, 0 +: 64] <- G[n * $TN +: $TN, k * 64 +: 64]
              tile.copy Us[0 +: $TN, 0 +: 64] <- U[n * $TN +: $TN, k * 64 +: 64]
              tile.mma gate[0 +: $TM, 0 +: $TN] += Xs[0 +: $TM, 0 +: 64] * Gs[0 +: $TN, 0 +: 64]^T
                [inflight = 1, instr = "wgmma.m64n$TNk16.f32.$T"]
              tile.mma up[0 +: $TM, 0 +: $TN] += Xs[0 +: $TM, 0 +: 64] * Us[0 +: $TN, 0 +: 64]^T
                [inflight = 1, instr = "wgmma.m64n$TNk16.f32.$T"]
            }
            alloc Hs: $T[$TM, $TN] shared
            tile.map (i in $TM, j in $TN) {
              Hs[i, j] = $T(up[i, j] * (gate[i, j] / (1.0f32 + exp(0.0f32 - gate[i, j]))))
            }
            tile.copy H[m * $TM +: $TM, n * $TN +: $TN] <- Hs[0 +: $TM, 0 +: $TN]
          }
        }
      }
      """;

  @Override
  public String name() {
    return String.format(Locale.ROOT, "gated_%s_%dx%dx%d", type, rows, hidden, depth);
  }

  @Override
  public PrimFunc program() {
    return HandWritten.parse(
        name(),
        PROGRAM,
        Map.of(
            "T",
            type,
            "M",
            rows,
            "N",
            hidden,
            "K",
            depth,
            "TM",
            64 * consumers,
            "TN",
            columns,
            "STAGES",
            stages,
            "CONSUMERS",
            consumers));
  }
}
