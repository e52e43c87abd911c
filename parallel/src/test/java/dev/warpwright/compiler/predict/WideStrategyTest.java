package dev.warpwright.compiler.predict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.synthetic.RandomFfn;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

class WideStrategyTest {
  /** The planner says what it weighed: launches, bytes and times, what it chose last. */
  @Test
  void whatWasWeighed() {
    Graph graph = new RandomFfn(528, 1040, true, Activation.SILU, false).graph(DType.BF16, 41);
    try (GemmKernels kernels = GemmKernels.uncompiled(GpuTarget.SM_90A)) {
      List<WideStrategy> ways =
          WideStrategy.of(
              NetworkCompiler.compile(graph, GpuTarget.SM_90A, Precision.BF16, 16, kernels),
              kernels);
      assertThat(ways.stream().map(WideStrategy::name))
          .containsExactly(
              "each GEMM by itself",
              "gate and up projections in one GEMM",
              "the same, launches that overlap");
      assertThat(ways.stream().map(WideStrategy::launches)).containsExactly(4, 2, 2);
      // Two results in f32 are neither written nor read.
      long weights = 3L * 528 * 1040 * 2;
      long ends = 16L * 2 * (528 + 1040 + 1040 + 528);
      assertThat(ways.get(1).bytes()).isEqualTo(weights + ends);
      assertThat(ways.get(0).bytes())
          .isEqualTo(weights + ends + 16L * 2 * 528 + 4L * 16 * 1040 * 4);
      assertThat(ways.stream().map(WideStrategy::micros))
          .isSortedAccordingTo(Comparator.reverseOrder());
    }
  }
}
