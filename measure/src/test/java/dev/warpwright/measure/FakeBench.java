package dev.warpwright.measure;

import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.measure.reference.ErrorSum;
import dev.warpwright.measure.reference.ReferenceGemm;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.Map;

/** What a fake GPU has to know of a kernel's workload so that it can be measured there. */
public final class FakeBench {
  /** A GEMM of f32, one thread for each element; {@code ERROR} is added to all of them. */
  static final String GEMM =
      """
      kernel NAME(A: f32[M, K], B: f32[N, K], C: f32[M, N],
          M: i32 in 1..4096, N: i32 in 1..4096, K: i32 in 1..4096)
          grid(bx = (M * N + 63) / 64) block(tid = 64) [workload = "gemm_nt"] {
        let t: i32 = bx * 64 + tid
        if t < M * N {
          alloc acc: f32[] local
          acc[] = ERRORf32
          for k in K {
            acc[] = fma(A[t / N, k], B[t % N, k], acc[])
          }
          C[t / N, t % N] = acc[]
        }
      }
      """;

  public static final Map<String, Long> SHAPE = Map.of("M", 24L, "N", 17L, "K", 8L);

  private FakeBench() {}

  /** A kernel of the sample workload; right unless an error is added. */
  public static Kernel gemm(String name, String error) {
    return SampleKernels.parse(GEMM.replace("NAME", name).replace("ERROR", error));
  }

  /** Teaches a device a kernel, and those that its result is checked by. */
  public static FakeGpu teach(FakeGpu gpu, Kernel kernel, Map<String, Long> values) {
    BoundKernel bound = BoundKernel.of(kernel, values);
    gpu.knows(bound.kernel());
    ReferenceGemm.of(bound.workload())
        .forEach(
            product -> {
              gpu.knows(product.kernel());
              gpu.knows(product.deviation());
            });
    gpu.knows(ErrorSum.of(bound.workload().result()));
    gpu.knows(OutputComparison.ofBits(bound.workload().result()));
    return gpu;
  }
}
