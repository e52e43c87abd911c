package dev.warpwright.examples.lowering;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * A network with ReLU between its layers, chained in registers: what a layer leaves in its
 * accumulators is, packed, the next one's first operand. Said as a tile program of one item, 64
 * rows; that weights stay in shared memory or flow through a ring, that each of several warpgroups
 * has rows of its own, and that the next rows are on their way while these are computed, is what
 * the passes make of its attributes. The same networks are {@code kernels/mlp_*.kernel}, by hand.
 *
 * <p>Weights are packed as there: K of the first layer and N of the last are permuted, so that
 * input and output move by 16 bytes.
 *
 * @param type f16 or bf16
 * @param width of every layer, 64 or 128
 * @param groups of layers
 * @param kept layers of a group that stay in shared memory
 * @param streamed layers of a group, behind those, that flow through a ring of one stage: 0 or 1
 * @param workers warpgroups with rows of their own
 */
public record RegisterChainedNetwork(
    String type, int width, int groups, int kept, int streamed, int workers)
    implements HandWritten {
  /** The networks that are written by hand, too. */
  public static final List<RegisterChainedNetwork> BY_HAND =
      List.of(
          new RegisterChainedNetwork("f16", 64, 1, 4, 0, 4),
          new RegisterChainedNetwork("f16", 64, 1, 8, 0, 6),
          new RegisterChainedNetwork("f16", 128, 1, 4, 0, 3),
          new RegisterChainedNetwork("f16", 128, 2, 3, 1, 3));

  private static final String NETWORK =
      """
      primfunc $NAME(x: $T[M, $W], W: $T[$L, $W, $W], y: $T[M, $W], M: i32 in 1..8388608,
          G: i32 in 1..1024) [consumers = $WORKERS, resident = $BYTES] {
        bind bx: blockIdx.x in G {
          persistent i in ((M + 63) / 64 - bx + G - 1) / G {
            let tile: i32 = bx + i * G
            alloc a: $T[64, $W] fragment
            alloc acc: f32[64, $W] fragment
            alloc next: $T[64, $W] fragment
            tile.copy next[0 +: 64, 0 +: $W] <- x[tile * 64 +: 64, 0 +: $W] [prefetch = 1]
            tile.map (r in 64, k in $W) {
              a[r, k] = next[r, k / 32 * 32 + k % 8 / 2 * 8 + k % 32 / 16 * 4 + k % 16 / 8 * 2 + k % 2]
            }
            unroll h in $GROUPS {
              pipeline l in $KEPT [unrolled = 1] {
                alloc Ws: $T[$W, $W] shared
                tile.copy Ws[0 +: $W, 0 +: $W] <- W[h * $SIZE + l, 0 +: $W, 0 +: $W]
                $PRODUCT
                if h * $SIZE + l < $L - 1 {
                  $RELU
                }
              }
              $STREAMED
            }
            alloc out: $T[64, $W] fragment
            tile.map (r in 64, n in $W) {
              out[r, n / 32 * 32 + n % 8 / 2 * 8 + n % 32 / 8 * 2 + n % 2] = $T(acc[r, n])
            }
            tile.copy y[tile * 64 +: 64, 0 +: $W] <- out[0 +: 64, 0 +: $W]
          }
        }
      }
      """;

  private static final String STREAM =
      """
      pipeline s in 1 [stages = 1, unrolled = 1] {
        alloc Ws: $T[$W, $W] shared
        tile.copy Ws[0 +: $W, 0 +: $W] <- W[h * $SIZE + $KEPT, 0 +: $W, 0 +: $W] [stream = 1]
        $PRODUCT
      }
      if h < $GROUPS - 1 {
        $RELU
      }
      """;

  private static final String PRODUCT =
      """
      tile.fill acc[0 +: 64, 0 +: $W] = 0.0f32
      tile.mma acc[0 +: 64, 0 +: $W] += a[0 +: 64, 0 +: $W] * Ws[0 +: $W, 0 +: $W]^T
        [instr = "wgmma.m64n$Wk16.f32.$T.ra"]
      """;

  /** NaN stays what it is. */
  private static final String RELU =
      """
      tile.map (r in 64, k in $W) {
        a[r, k] = $T(select(acc[r, k] <= 0.0f32, 0.0f32, acc[r, k]))
      }
      """;

  /** Layers. */
  public int layers() {
    return groups * (kept + streamed);
  }

  /** As that of the one by hand. */
  @Override
  public String name() {
    return String.format(Locale.ROOT, "mlp_%s_sm90_%dx%d", type, width, layers());
  }

  @Override
  public PrimFunc program() {
    String text =
        NETWORK
            .replace("$STREAMED", streamed > 0 ? STREAM : "")
            .replace("$PRODUCT", PRODUCT)
            .replace("$RELU", RELU)
            .replace("$WORKERS", String.valueOf(workers))
            .replace("$GROUPS", String.valueOf(groups))
            .replace("$BYTES", String.valueOf(groups * kept * width * width * 2))
            .replace("$KEPT", String.valueOf(kept))
            .replace("$SIZE", String.valueOf(kept + streamed))
            .replace("$NAME", name())
            .replace("$L", String.valueOf(layers()))
            .replace("$W", String.valueOf(width))
            .replace("$T", type);
    return new IrParser(Intrinsics::find).primFunc(name(), text);
  }

  /**
   * Writes the lowered kernels as text, so that {@code bench/chained.sh} can time them.
   *
   * @param args a folder
   */
  public static void main(String[] args) throws IOException {
    if (args.length != 1) {
      System.err.println("usage: RegisterChainedNetwork FOLDER");
      System.exit(2);
    }
    Path folder = Path.of(args[0]);
    Files.createDirectories(folder);
    for (RegisterChainedNetwork network : BY_HAND) {
      Kernel kernel = network.kernel(PassListener.NONE);
      Files.writeString(folder.resolve(network.name() + ".kernel"), IrPrinter.text(kernel));
    }
  }
}
