package dev.warpwright.measure;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.target.intrinsic.Intrinsics;

/** Kernels for tests, as text. */
public final class SampleKernels {
  private SampleKernels() {}

  public static Kernel parse(String text) {
    return new IrParser(Intrinsics::find).kernel("test.kernel", text);
  }

  /** One thread for each element; tiles of 16 × 16 come in the order of the table. */
  public static final String GEMM =
      """
      kernel gemm(A: bf16[M, K], B: bf16[N, K], C: bf16[M, N], order: i32[T], seen: u32[4],
          M: i32 in 1..4096, N: i32 in 1..4096, K: i32 in 1..4096, T: i32 in 1..65536)
          grid(bx = T) block(tid = 256)
          [workload = "gemm_nt", order = "grouped:2", tileM = 8, clusterM = 2, tileN = 16, zero = "seen"] {
        let tile: i32 = order[bx]
        let m: i32 = (tile >> 16) * 16 + tid / 16
        let n: i32 = (tile & 65535) * 16 + tid % 16
        if m < M && n < N {
          alloc acc: f32[] local
          acc[] = 0.0f32
          for k in K {
            acc[] = fma(f32(A[m, k]), f32(B[n, k]), acc[])
          }
          C[m, n] = bf16(acc[])
        }
      }
      """;
}
