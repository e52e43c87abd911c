package dev.warpwright.cli.program;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Small programs of one's own in a folder: a function with its schedule, and two kernels. */
public final class OwnFiles {
  private static final String NORMS =
      """
      primfunc norms(x: f32[rows, 64], y: f32[rows, 64], rows: i32 in 1..65536) {
        alloc squares: f32[rows]
        for i in rows {
          for k in 64 {
            block squares(vi: spatial(rows) = i, vk: reduce(64) = k) {
              init {
                squares[vi] = 0.0f32
              }
              squares[vi] = fma(x[vi, vk], x[vi, vk], squares[vi])
            }
          }
        }
        for i in rows {
          for j in 64 {
            block y(vi: spatial(rows) = i, vj: spatial(64) = j) {
              y[vi, vj] = x[vi, vj] * rsqrt(squares[vi] / 64.0f32 + 0.00001f32)
            }
          }
        }
      }
      """;

  private static final String STEPS =
      """
      b, t = split(y.i, factor = 128)
      computeAt(squares, t)
      setScope(squares, scope = local)
      compactAll()
      bind(b, axis = blockIdx.x)
      bind(t, axis = threadIdx.x)
      """;

  /** A block of few threads that share a row. */
  static final String KERNEL =
      """
      kernel small(A: f32[m, 6], B: f32[6, 5], C: f32[m, 5], m: i32 in 1..64) grid(by = m) block(tx = 5) {
        alloc s: f32[6] shared
        alloc acc: f32[1] local
        let row: i32 = by
        if tx < 3 {
          s[ramp(tx * 2, 1, 2)] = A[row, ramp(tx * 2, 1, 2)]
        }
        sync_threads()
        acc[0] = 0.0f32
        for k in 6 {
          acc[0] = fma(s[k], B[k, tx], acc[0])
        }
        C[row, tx] = acc[0]
      }
      """;

  /** The same by two warps, without a barrier between them. */
  static final String RACE =
      KERNEL
          .replace("  sync_threads()\n", "")
          .replace("block(tx = 5)", "block(tx = 64)")
          .replace("  C[row, tx] = acc[0]", "  if tx < 5 {\n    C[row, tx] = acc[0]\n  }")
          .replace("B[k, tx]", "B[k, tx % 5]");

  private OwnFiles() {}

  /** Writes norms.ir, steps.txt, small.kernel and race.kernel. */
  public static void write(Path folder) throws IOException {
    Files.writeString(folder.resolve("norms.ir"), NORMS);
    Files.writeString(folder.resolve("steps.txt"), STEPS);
    Files.writeString(folder.resolve("small.kernel"), KERNEL);
    Files.writeString(folder.resolve("race.kernel"), RACE);
  }
}
