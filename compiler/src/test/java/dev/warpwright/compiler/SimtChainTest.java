package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.execute.SimulatedExecutable;
import dev.warpwright.compiler.fusion.Alternative;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.text.IrPrinter;
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

/** Networks in f32 by warps with shared memory of their own, beside double precision. */
class SimtChainTest {
  private static Graph graph(String architecture, boolean bias) {
    return RandomMlp.of((Architecture.Mlp) Architecture.parse(architecture), bias, DType.F32, 7);
  }

  private static List<Alternative> ways(Graph graph, GpuTarget target) {
    return NetworkCompiler.alternatives(graph, target, Precision.F32).stream()
        .filter(way -> way.name().startsWith("shared chaining warps="))
        .toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mlp:64,64,64,64:relu     | false | 150  | sm_90a | 0", // several warps, a last tile
        "mlp:64,64,64,64,64:relu  | true  | 33   | sm_90a | 1", // a bias, 48 rows
        "mlp:3,64,64,5:relu       | true  | 100  | sm_80  | 0", // odd inputs and outputs
        "mlp:13,32,80,7:relu      | false | 65   | sm_89  | 0", // each layer of its own width
        "mlp:128,96,128:relu      | true  | 17   | sm_90a | 0", // many columns a thread
        "mlp:64,64,64:relu        | false | 1    | sm_86  | 2", // one row
      })
  void computesWhatTheGraphSays(
      String architecture, boolean bias, int rows, String target, int which) {
    Graph graph = graph(architecture.strip(), bias);
    List<Alternative> ways = ways(graph, GpuTarget.find(target.strip()).orElseThrow());
    assertThat(ways).extracting(Alternative::name).doesNotHaveDuplicates().isNotEmpty();
    Alternative way = ways.get(Math.min(which, ways.size() - 1));
    CompiledProgram compiled = way.compile().get().orElseThrow();
    float[] x = new float[rows * graph.inputs().getFirst().features()];
    Random random = new Random(11);
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    double[] wide = IntStream.range(0, x.length).mapToDouble(i -> x[i]).toArray();
    double[] expected = GraphEvaluator.evaluate(graph, rows, List.of(wide)).getFirst();
    try (SimulatedExecutable executable = new SimulatedExecutable(compiled)) {
      float[] y = new float[expected.length];
      executable.run(rows, List.of(x), List.of(y));
      assertThat(executable.findings()).as(way.name()).isEmpty();
      Deviations deviations =
          Verification.deviations(
              IntStream.range(0, y.length).mapToDouble(e -> y[e]).toArray(),
              expected,
              NetworkDeviation.of(graph, Precision.F32, rows, List.of(wide)).getFirst(),
              DType.F32,
              false);
      assertThat(deviations.honest()).as("%s: %s", way.name(), deviations).isTrue();
    }
  }

  /** Where each scheduler has rows; few rows are spread over smaller tiles. */
  @Test
  void manyRowsAreComputedByWarps() {
    Graph graph = graph("mlp:64,64,64:relu", false);
    try (CompiledModel model =
        new CompiledModel(graph, new OfflineGpu(GpuTarget.SM_90A), Precision.F32)) {
      CompiledKernel kernel = model.program(1 << 20).kernels().getFirst();
      assertThat(kernel.why())
          .contains(
              "each of 12 warps passes activations of 48 rows through shared memory of its own");
      assertThat(IrPrinter.text(kernel.kernel())).contains("for layer in 2");
      assertThat(model.program(1000).kernels().getFirst().why()).doesNotContain("of its own");
    }
  }

  /** No barrier of a block between layers, and operands by 16 bytes. */
  @Test
  void warpsWaitForNoOther() {
    String kernel =
        IrPrinter.text(
            ways(graph("mlp:64,64,64,64,64:relu", false), GpuTarget.SM_90A)
                .getFirst()
                .compile()
                .get()
                .orElseThrow()
                .kernels()
                .getFirst()
                .kernel());
    assertThat(kernel).containsOnlyOnce("sync_threads()").contains("sync_warp()");
    assertThat(kernel)
        .contains("fc: f32[96] local", "a_frag: f32[12] local", "b_frag: f32[8] local")
        .contains("a_frag[ramp(h * 4, 1, 4)] = smem_f32[ramp(")
        .contains("for layer in 4")
        // Results leave through registers of their own.
        .contains("result[r3 * 32 + r2 * 8 + r1 * 4 + r0] = copy.f32(fc[");
  }
}
