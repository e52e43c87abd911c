package dev.warpwright.examples.lowering;

import dev.warpwright.ir.PrimFunc;
import java.util.Locale;
import java.util.Map;

/**
 * Two GEMMs, the second of which reads what the first one writes, in one persistent kernel: {@code
 * H = relu(X · Vᵀ)}, {@code Y = H · Wᵀ}. Blocks draw tiles of either by tickets, a row of H and
 * then the same row of Y; who computes a tile of H signals its row's counter, and a tile of Y waits
 * for it. So H is read back while it is still in L2.
 *
 * @param type f16 or bf16
 * @param rows of X, H and Y
 * @param width columns of X and of Y
 * @param hidden columns of H
 * @param blocks that share the work
 */
public record DependentGemms(String type, int rows, int width, int hidden, int blocks)
    implements HandWritten {
  private static final int ROWS = 128;
  private static final int COLUMNS = 128;

  private static final String PROGRAM =
      """
      primfunc $NAME(X: $T[$M, $K], V: $T[$N, $K], H: $T[$M, $N], W: $T[$K, $N], Y: $T[$M, $K])
          [consumers = 2, producers = 1] {
        persistent x in $ALL [blocks = $BLOCKS, columns = $CN, order = "rows",
            secondColumns = $CK, wait = "row", waits = "H"] {
          if x % $BOTH < $CN {
            alloc sums: f32[128, 128] fragment
            tile.fill sums[0 +: 128, 0 +: 128] = 0.0f32
            pipeline k in ($K + 63) / 64 [stages = 4] {
              alloc Xs: $T[128, 64] shared
              alloc Vs: $T[128, 64] shared
              tile.copy Xs[0 +: 128, 0 +: 64] <- X[x / $BOTH * 128 +: 128, k * 64 +: 64]
              tile.copy Vs[0 +: 128, 0 +: 64] <- V[x % $BOTH * 128 +: 128, k * 64 +: 64]
              tile.mma sums[0 +: 128, 0 +: 128] += Xs[0 +: 128, 0 +: 64] * Vs[0 +: 128, 0 +: 64]^T
                [instr = "wgmma.m64n128k16.f32.$T"]
            }
            alloc Hs: $T[128, 128] shared
            tile.map (i in 128, j in 128) {
              Hs[i, j] = $T(max(sums[i, j], 0.0f32))
            }
            tile.copy H[x / $BOTH * 128 +: 128, x % $BOTH * 128 +: 128] <- Hs[0 +: 128, 0 +: 128]
          } else {
            alloc sums: f32[128, 128] fragment
            tile.fill sums[0 +: 128, 0 +: 128] = 0.0f32
            pipeline k in ($N + 63) / 64 [stages = 4] {
              alloc Hs: $T[128, 64] shared
              alloc Ws: $T[128, 64] shared
              tile.copy Hs[0 +: 128, 0 +: 64] <- H[x / $BOTH * 128 +: 128, k * 64 +: 64]
              tile.copy Ws[0 +: 128, 0 +: 64] <- W[(x % $BOTH - $CN) * 128 +: 128, k * 64 +: 64]
              tile.mma sums[0 +: 128, 0 +: 128] += Hs[0 +: 128, 0 +: 64] * Ws[0 +: 128, 0 +: 64]^T
                [instr = "wgmma.m64n128k16.f32.$T"]
            }
            alloc Ys: $T[128, 128] shared
            tile.map (i in 128, j in 128) {
              Ys[i, j] = $T(sums[i, j])
            }
            tile.copy Y[x / $BOTH * 128 +: 128, (x % $BOTH - $CN) * 128 +: 128]
              <- Ys[0 +: 128, 0 +: 128]
          }
        }
      }
      """;

  @Override
  public String name() {
    return String.format(Locale.ROOT, "dependent_%s_%dx%dx%d", type, rows, hidden, width);
  }

  @Override
  public PrimFunc program() {
    int first = Math.ceilDiv(hidden, COLUMNS);
    int second = Math.ceilDiv(width, COLUMNS);
    return HandWritten.parse(
        name(),
        PROGRAM,
        Map.of(
            "T",
            type,
            "M",
            rows,
            "K",
            width,
            "N",
            hidden,
            "ALL",
            Math.ceilDiv(rows, ROWS) * (first + second),
            "BOTH",
            first + second,
            "CN",
            first,
            "CK",
            second,
            "BLOCKS",
            blocks));
  }
}
