package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.NdArray;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Tile programs as a schedule leaves them, as text with holes. */
final class FlowPrograms {
  private static final String GEMM =
      """
      primfunc gemm(A: $T[$M, $K], B: $T[$N, $K], C: $T[$M, $N]) [consumers = $CONSUMERS, share = "rows"] {
        $WORK
          alloc acc: f32[$TM, $TN] fragment
          tile.fill acc[0 +: $TM, 0 +: $TN] = 0.0f32
          pipeline k in ($K + $TK - 1) / $TK [hold = 1, stages = $STAGES] {
            alloc As: $T[$TM, $TK] shared
            alloc Bs: $T[$TN, $TK] shared
            tile.copy As[0 +: $TM, 0 +: $TK] <- A[m * $TM +: $TM, k * $TK +: $TK]
            tile.copy Bs[0 +: $TN, 0 +: $TK] <- B[n * $TN +: $TN, k * $TK +: $TK]
            tile.mma acc[0 +: $TM, 0 +: $TN] += As[0 +: $TM, 0 +: $TK] * Bs[0 +: $TN, 0 +: $TK]^T
              [inflight = 1, instr = "wgmma.m64n$TNk16.f32.$T"]
          }
          $STORE
        $END
      }
      """;

  static final String STAGED =
      """
      alloc Cs: $T[$TM, $TN] shared
      tile.map (i in $TM, j in $TN) {
        Cs[i, j] = $T(max(acc[i, j], -1.0f32))
      }
      tile.copy C[m * $TM +: $TM, n * $TN +: $TN] <- Cs[0 +: $TM, 0 +: $TN]
      """;

  static final String DIRECT =
      """
      tile.copy C[m * $TM +: $TM, n * $TN +: $TN] <- acc[0 +: $TM, 0 +: $TN]
      """;

  private FlowPrograms() {}

  static PrimFunc parse(String text) {
    return new IrParser(Intrinsics::find).primFunc("test", text);
  }

  static String fill(String text, Map<String, ?> values) {
    String result = text;
    // Longer names first: $TM is no $T.
    for (String name :
        values.keySet().stream()
            .sorted((a, b) -> b.length() != a.length() ? b.length() - a.length() : a.compareTo(b))
            .toList()) {
      result = result.replace("$" + name, String.valueOf(values.get(name)));
    }
    return result;
  }

  /**
   * A GEMM of operands that are not of 16 bits, one tile a block.
   *
   * @param type tf32 or s8
   * @param layout of A and B, N where rows are along K
   */
  static PrimFunc gemm(
      String type, String layout, int m, int n, int k, int tm, int tn, int tk, int consumers) {
    boolean words = type.equals("tf32");
    boolean kMajorA = layout.charAt(0) == 'N';
    boolean kMajorB = layout.charAt(1) == 'T';
    String text =
        """
        primfunc gemm(A: $T[$SHAPE_A], B: $T[$SHAPE_B], C: $SUM[$M, $N]) [consumers = $CONSUMERS, share = "rows"] {
          bind m: blockIdx.y in ($M + $TM - 1) / $TM {
            bind n: blockIdx.x in ($N + $TN - 1) / $TN {
              alloc acc: $SUM[$TM, $TN] fragment
              tile.fill acc[0 +: $TM, 0 +: $TN] = 0$SUFFIX
              pipeline k in ($K + $TK - 1) / $TK [hold = 1, stages = 2] {
                alloc As: $T[$TILE_A] shared
                alloc Bs: $T[$TILE_B] shared
                tile.copy As[$ALL_A] <- A[$FROM_A]
                tile.copy Bs[$ALL_B] <- B[$FROM_B]
                tile.mma acc[0 +: $TM, 0 +: $TN] += As[$ALL_A]$TRANSPOSE_A * Bs[$ALL_B]$TRANSPOSE_B
                  [inflight = 1, instr = "wgmma.m64n$TNk$DEPTH.$SUM_NAME.$INSTR"]
              }
              tile.copy C[m * $TM +: $TM, n * $TN +: $TN] <- acc[0 +: $TM, 0 +: $TN]
            }
          }
        }
        """;
    String alongK = "k * $TK +: $TK";
    String alongM = "m * $TM +: $TM";
    String alongN = "n * $TN +: $TN";
    String operands =
        fill(
            text,
            Map.ofEntries(
                Map.entry("SHAPE_A", kMajorA ? "$M, $K" : "$K, $M"),
                Map.entry("SHAPE_B", kMajorB ? "$N, $K" : "$K, $N"),
                Map.entry("TILE_A", kMajorA ? "$TM, $TK" : "$TK, $TM"),
                Map.entry("TILE_B", kMajorB ? "$TN, $TK" : "$TK, $TN"),
                Map.entry("ALL_A", kMajorA ? "0 +: $TM, 0 +: $TK" : "0 +: $TK, 0 +: $TM"),
                Map.entry("ALL_B", kMajorB ? "0 +: $TN, 0 +: $TK" : "0 +: $TK, 0 +: $TN"),
                Map.entry("FROM_A", kMajorA ? alongM + ", " + alongK : alongK + ", " + alongM),
                Map.entry("FROM_B", kMajorB ? alongN + ", " + alongK : alongK + ", " + alongN),
                Map.entry("TRANSPOSE_A", kMajorA ? "" : "^T"),
                Map.entry("TRANSPOSE_B", kMajorB ? "^T" : "")));
    return parse(
        fill(
            operands,
            Map.ofEntries(
                Map.entry("CONSUMERS", consumers),
                Map.entry("TM", tm),
                Map.entry("TN", tn),
                Map.entry("TK", tk),
                Map.entry("T", words ? "f32" : "i8"),
                Map.entry("SUM_NAME", words ? "f32" : "s32"),
                Map.entry("SUM", words ? "f32" : "i32"),
                Map.entry("SUFFIX", words ? ".0f32" : "i32"),
                Map.entry("INSTR", type),
                Map.entry("DEPTH", words ? 8 : 32),
                Map.entry("M", m),
                Map.entry("N", n),
                Map.entry("K", k))));
  }

  /** A GEMM of bf16; {@code blocks} is 0 for one tile a block. */
  static PrimFunc gemm(
      int m,
      int n,
      int k,
      int tm,
      int tn,
      int tk,
      int stages,
      int blocks,
      int consumers,
      String store) {
    int rows = Math.ceilDiv(m, tm);
    int columns = Math.ceilDiv(n, tn);
    String work =
        blocks == 0
            ? "bind m: blockIdx.y in $ROWS { bind n: blockIdx.x in $COLUMNS {"
            : "bind bx: blockIdx.x in $BLOCKS { persistent item in ($TILES - bx + $BLOCKS - 1) /"
                + " $BLOCKS { let t: i32 = bx + item * $BLOCKS\n"
                + " let m: i32 = t / $COLUMNS\n"
                + " let n: i32 = t % $COLUMNS\n";
    String text = GEMM.replace("$WORK", work).replace("$STORE", store).replace("$END", "} }");
    return parse(
        fill(
            text,
            Map.ofEntries(
                Map.entry("ROWS", rows),
                Map.entry("COLUMNS", columns),
                Map.entry("BLOCKS", blocks),
                Map.entry("TILES", rows * columns),
                Map.entry("CONSUMERS", consumers),
                Map.entry("STAGES", stages),
                Map.entry("TM", tm),
                Map.entry("TN", tn),
                Map.entry("TK", tk),
                Map.entry("T", "bf16"),
                Map.entry("M", m),
                Map.entry("N", n),
                Map.entry("K", k))));
  }

  /**
   * A network of as many layers as groups and their size say, whose layers but the last of each
   * group stay in shared memory, if {@code resident}; else all of them.
   */
  static PrimFunc network(
      String type, int width, int groups, int kept, boolean streamed, int workers) {
    String text =
        """
        primfunc mlp(x: $T[M, $W], W: $T[$L, $W, $W], y: $T[M, $W], M: i32 in 1..8388608, G: i32 in 1..1024)
            [consumers = $WORKERS, resident = $BYTES] {
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
                pipeline l in $KEPT [stages = 2, unrolled = 1] {
                  alloc Ws: $T[$W, $W] shared
                  tile.copy Ws[0 +: $W, 0 +: $W] <- W[h * $SIZE + l, 0 +: $W, 0 +: $W]
                  tile.fill acc[0 +: 64, 0 +: $W] = 0.0f32
                  tile.mma acc[0 +: 64, 0 +: $W] += a[0 +: 64, 0 +: $W] * Ws[0 +: $W, 0 +: $W]^T
                    [instr = "wgmma.m64n$Wk16.f32.$T.ra"]
                  $FIRST
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
    String relu =
        """
        tile.map (r in 64, k in $W) {
          a[r, k] = $T(select(acc[r, k] <= 0.0f32, 0.0f32, acc[r, k]))
        }
        """;
    String ring =
        """
        tile.fill acc[0 +: 64, 0 +: $W] = 0.0f32
        pipeline s in 1 [stages = 1] {
          alloc Wr: $T[$W, $W] shared
          tile.copy Wr[0 +: $W, 0 +: $W] <- W[h * $SIZE + $KEPT, 0 +: $W, 0 +: $W] [stream = 1]
          tile.mma acc[0 +: 64, 0 +: $W] += a[0 +: 64, 0 +: $W] * Wr[0 +: $W, 0 +: $W]^T
            [instr = "wgmma.m64n$Wk16.f32.$T.ra"]
        }
        if h < $GROUPS - 1 {
        """
            + relu
            + "}\n";
    String first = streamed ? relu : "if h * $SIZE + l < $L - 1 {\n" + relu + "}\n";
    int size = kept + (streamed ? 1 : 0);
    return parse(
        fill(
            text.replace("$FIRST", first).replace("$STREAMED", streamed ? ring : ""),
            Map.of(
                "T", type,
                "W", width,
                "L", groups * size,
                "GROUPS", groups,
                "KEPT", kept,
                "SIZE", size,
                "WORKERS", workers,
                "BYTES", groups * kept * width * width * 2)));
  }

  /** Weights and biases. */
  static Set<Buffer> constants(PrimFunc func) {
    Set<Buffer> constants = new LinkedHashSet<>();
    func.buffers().stream()
        .filter(b -> b.name().startsWith("W") || b.name().startsWith("b"))
        .forEach(constants::add);
    return constants;
  }

  /** The arguments, with weights as the packed program wants them. */
  static Arguments packed(
      PrimFunc func, PackConstants.Packed packed, List<? extends Param> params, long rows) {
    Arguments plain = LoweringTest.exact(func.params(), Map.of("M", rows));
    Arguments arguments = LoweringTest.exact(params, Map.of("M", rows));
    for (Buffer buffer : func.buffers()) {
      var values = plain.get(buffer.name());
      var into = arguments.get(buffer.name());
      PackConstants.Form form = packed.packed().get(buffer);
      if (form == null) {
        for (int i = 0; i < values.size(); i++) {
          into.setElement(i, values.element(i));
        }
        continue;
      }
      NdArray laid = NdArray.of(buffer.withLayout(form.where())).fillWith(values::get);
      System.arraycopy(laid.bytes(), 0, into.bytes(), 0, laid.bytes().length);
    }
    arguments.get("y").poison();
    return arguments;
  }
}
