package dev.warpwright.examples.lowering;

import dev.warpwright.ir.PrimFunc;
import java.util.Locale;
import java.util.Map;

/**
 * {@code O = softmax(Q · Kᵀ / √width) · V} for each head, without a matrix of scores in memory:
 * tiles of K and of V flow in turns through one ring, and what the rows' maxima and sums were is
 * corrected tile by tile. Scores become the second GEMM's first operand where they are, in
 * registers. The maxima and sums are vectors of a value a row, which each thread holds for the rows
 * that it has elements of.
 *
 * @param type f16 or bf16
 * @param heads each with rows of its own in Q, K, V and O, one head behind the other
 * @param sequence rows of a head, a multiple of the tiles'
 * @param width columns of a head
 * @param keys rows of a tile of K and V
 * @param consumers warpgroups that share a block's rows of Q, 64 each
 */
public record FusedAttention(
    String type, int heads, int sequence, int width, int keys, int consumers)
    implements HandWritten {
  private static final String PROGRAM =
      """
      primfunc $NAME(Q: $T[$ROWS, $W], K: $T[$ROWS, $W], V: $T[$ROWS, $W], O: $T[$ROWS, $W])
          [consumers = $CONSUMERS, share = "rows"] {
        bind m: blockIdx.x in $L / $TM {
          bind h: blockIdx.y in $HEADS {
            pipeline q in 1 [stages = 1] {
              alloc Qs: $T[$TM, $W] shared
              tile.copy Qs[0 +: $TM, 0 +: $W] <- Q[h * $L + m * $TM +: $TM, 0 +: $W]
              alloc s: f32[$TM, $TN] fragment
              alloc p: $T[$TM, $TN] fragment
              alloc o: f32[$TM, $W] fragment
              alloc top: f32[$TM] fragment
              alloc scale: f32[$TM] fragment
              alloc sum: f32[$TM] fragment
              tile.fill o[0 +: $TM, 0 +: $W] = 0.0f32
              tile.fill top[0 +: $TM] = f32.minus_inf
              tile.fill sum[0 +: $TM] = 0.0f32
              for t in $L / $TN {
                tile.fill s[0 +: $TM, 0 +: $TN] = 0.0f32
                pipeline k in 1 [stages = $STAGES] {
                  alloc Ks: $T[$TN, $W] shared
                  tile.copy Ks[0 +: $TN, 0 +: $W] <- K[h * $L + t * $TN +: $TN, 0 +: $W]
                  tile.mma s[0 +: $TM, 0 +: $TN] += Qs[0 +: $TM, 0 +: $W] * Ks[0 +: $TN, 0 +: $W]^T
                    [instr = "wgmma.m64n$TNk16.f32.$T"]
                }
                tile.map (i in $TM) {
                  scale[i] = top[i]
                }
                tile.reduce max (i in $TM; j in $TN) top[i] max= s[i, j] * $SCALE
                tile.map (i in $TM) {
                  scale[i] = exp2(scale[i] - top[i])
                  sum[i] = sum[i] * scale[i]
                }
                tile.map (i in $TM, j in $TN) {
                  s[i, j] = exp2(fma(s[i, j], $SCALE, 0.0f32 - top[i]))
                }
                tile.reduce sum (i in $TM; j in $TN) sum[i] += s[i, j]
                tile.map (i in $TM, j in $TN) {
                  p[i, j] = $T(s[i, j])
                }
                tile.map (i in $TM, j in $W) {
                  o[i, j] = o[i, j] * scale[i]
                }
                pipeline v in 1 [stages = $STAGES] {
                  alloc Vs: $T[$TN, $W] shared
                  tile.copy Vs[0 +: $TN, 0 +: $W] <- V[h * $L + t * $TN +: $TN, 0 +: $W]
                  tile.mma o[0 +: $TM, 0 +: $W] += p[0 +: $TM, 0 +: $TN] * Vs[0 +: $TN, 0 +: $W]
                    [instr = "wgmma.m64n$Wk16.f32.$T.ra.tb"]
                }
              }
              alloc Os: $T[$TM, $W] shared
              tile.map (i in $TM, j in $W) {
                Os[i, j] = $T(o[i, j] / sum[i])
              }
              tile.copy O[h * $L + m * $TM +: $TM, 0 +: $W] <- Os[0 +: $TM, 0 +: $W]
            }
          }
        }
      }
      """;

  public FusedAttention {
    if (sequence % keys != 0 || sequence % (64 * consumers) != 0) {
      throw new IllegalArgumentException(
          sequence + " rows are no multiple of " + keys + " and of " + 64 * consumers);
    }
  }

  @Override
  public String name() {
    return String.format(Locale.ROOT, "attention_%s_%dx%dx%d", type, heads, sequence, width);
  }

  @Override
  public PrimFunc program() {
    // Powers of two: of e, the exponent is so many times larger.
    String scale =
        String.format(Locale.ROOT, "%.9ff32", Math.log(Math.E) / Math.log(2) / Math.sqrt(width));
    return HandWritten.parse(
        name(),
        PROGRAM,
        Map.ofEntries(
            Map.entry("T", type),
            Map.entry("ROWS", heads * sequence),
            Map.entry("L", sequence),
            Map.entry("W", width),
            Map.entry("HEADS", heads),
            Map.entry("TM", 64 * consumers),
            Map.entry("TN", keys),
            Map.entry("STAGES", 4),
            Map.entry("SCALE", scale),
            Map.entry("CONSUMERS", consumers)));
  }
}
