package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.sim.Verification;
import dev.warpwright.synthetic.NetworkDeviation;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Networks whose activations stay in registers of warps, beside double precision. */
class WarpChainTest {
  private static Graph graph(String architecture, boolean bias) {
    return RandomMlp.of((Architecture.Mlp) Architecture.parse(architecture), bias, DType.F32, 7);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mlp:64,64,64,64:relu     | f16  | true  | 200 | sm_80", // several warps, a last tile
        "mlp:48,80,16:tanh        | bf16 | true  | 70  | sm_86", // groups of 16 columns
        "mlp:3,64,64,5:sin        | f16  | true  | 100 | sm_89", // formulas of inputs, odd outputs
        "mlp:13,32,32,7:gelu      | f16  | false | 65  | sm_80", // rows of odd widths both ways
        "mlp:64,64,91:relu        | bf16 | true  | 39  | sm_86", // eight rows are a run of bytes
        "mlp:128,128,128:relu     | bf16 | true  | 33  | sm_80", // columns in parts
        "mlp:256,128,256,64:silu  | f16  | false | 17  | sm_80", // 16 rows a warp
        "mlp:160,160,160,32:relu  | bf16 | true  | 40  | sm_86", // a weight that is not in shared
        // memory
        "mlp:96,192,32:relu       | f16  | true  | 40  | sm_80", // parts of no power of two
        "mlp:64,64,64,64:relu     | f16_accumulators | false | 200 | sm_80", // joined in pairs
        "mlp:13,32,32,7:gelu      | f16_accumulators | true  | 65  | sm_86", // rows of odd widths
        "mlp:128,128,64:silu      | f16_accumulators | true  | 17  | sm_89", // columns in parts
      })
  void computesWhatTheGraphSays(
      String architecture, String type, boolean bias, int rows, String target) {
    Graph graph = graph(architecture.strip(), bias);
    Precision precision = Precision.parse(type);
    Random random = new Random(11);
    float[] x = new float[rows * graph.inputs().getFirst().features()];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    double[] wide = IntStream.range(0, x.length).mapToDouble(i -> x[i]).toArray();
    try (CompiledModel model =
        new CompiledModel(
            graph, new SimulatedDevice(GpuTarget.find(target).orElseThrow()), precision)) {
      CompiledKernel kernel = model.program(rows).kernels().getFirst();
      assertThat(kernel.strategy()).as(kernel.why()).isEqualTo("register chaining");
      float[] y = model.run(x);
      assertThat(model.executable(rows).findings()).isEmpty();
      DType result = model.program(rows).network().outputs().getFirst().dtype();
      assertThat(result).isEqualTo(precision.operand());
      Deviations deviations =
          Verification.deviations(
              IntStream.range(0, y.length).mapToDouble(i -> y[i]).toArray(),
              GraphEvaluator.evaluate(graph, rows, List.of(wide)).getFirst(),
              NetworkDeviation.of(graph, precision, rows, List.of(wide)).getFirst(),
              result,
              false);
      assertThat(deviations.honest()).as("%s", deviations).isTrue();
    }
  }

  /** Where weights do not fit, or instructions lack, the plan says so. */
  @Test
  void whatIsInTheWayIsSaid() {
    Graph graph = graph("mlp:256,256,256:relu", true);
    try (CompiledModel model =
        new CompiledModel(
            graph, new OfflineGpu(GpuTarget.find("sm_86").orElseThrow()), Precision.F16)) {
      assertThat(model.program(100).kernels().getFirst().why())
          .contains("not in registers, for none of its weights fits the 101376 bytes");
    }
    try (CompiledModel model =
        new CompiledModel(
            graph, new OfflineGpu(GpuTarget.find("sm_75").orElseThrow()), Precision.F16)) {
      assertThat(model.program(100).kernels().getFirst().why())
          .contains("not in registers, for sm_75 has no mma.sync of 16 by 8 by 16");
    }
  }
}
