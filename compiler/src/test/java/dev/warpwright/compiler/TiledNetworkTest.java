package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.execute.SimulatedExecutable;
import dev.warpwright.compiler.fusion.Alternative;
import dev.warpwright.compiler.fusion.NetworkCompiler;
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
import org.junit.jupiter.params.provider.ValueSource;

/** Networks in f32 by tiles of registers, in the simulator beside double precision. */
class TiledNetworkTest {
  private static Graph graph(String architecture, boolean bias) {
    return RandomMlp.of((Architecture.Mlp) Architecture.parse(architecture), bias, DType.F32, 7);
  }

  private static List<Alternative> tiles(Graph graph, GpuTarget target) {
    return NetworkCompiler.alternatives(graph, target, Precision.F32).stream()
        .filter(way -> way.name().startsWith("shared chaining rows="))
        .toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mlp:64,64,64:relu        | true  | 270 | sm_90a", // a whole tile of rows and a part
        "mlp:3,64,48,4:sin        | true  | 70  | sm_80", // narrow inputs and outputs
        "mlp:17,80,112,33:tanh    | false | 65  | sm_86", // widths of no power of two
        "mlp:128,32,256:gelu      | true  | 33  | sm_89", // products that are spread differently
        "mlp:16,16,16:relu        | false | 130 | sm_75", // fewer columns than threads side by side
      })
  void tilesComputeWhatTheGraphSays(String architecture, boolean bias, int rows, String target) {
    Graph graph = graph(architecture.strip(), bias);
    check(graph, rows, GpuTarget.find(target).orElseThrow(), rows % 3, 3);
  }

  /** 352 columns are too odd for 16 threads side by side: such tiles are no ways. */
  @ParameterizedTest
  @ValueSource(strings = {"mlp:128,352,128:relu", "mlp:96,160,416,5:gelu", "mlp:48,336,16:relu"})
  void everyTileOfOddWidthsCompiles(String architecture) {
    for (GpuTarget target : List.of(GpuTarget.SM_90A, GpuTarget.SM_80, GpuTarget.SM_75)) {
      for (Alternative tile : tiles(graph(architecture, true), target)) {
        assertThat(tile.compile().get()).as(tile.name()).isPresent();
      }
    }
  }

  /** Residuals, gates, norms: what else networks are made of, by two of the tiles each. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6})
  void randomNetworks(int seed) {
    Random random = new Random(8000 + seed);
    Graph graph = RandomNetworks.of(random, 1 + random.nextInt(4), 1, 3, 8, 17, 30, 50, 64);
    check(graph, 1 + random.nextInt(140), GpuTarget.SM_90A, seed % 4, 4);
  }

  /** Executes every so many-th tile, from one on. */
  private static void check(Graph graph, int rows, GpuTarget target, int first, int step) {
    float[] x = new float[rows * graph.inputs().getFirst().features()];
    Random random = new Random(11);
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    double[] wide = IntStream.range(0, x.length).mapToDouble(i -> x[i]).toArray();
    double[] expected = GraphEvaluator.evaluate(graph, rows, List.of(wide)).getFirst();
    double[] deviation = NetworkDeviation.of(graph, Precision.F32, rows, List.of(wide)).getFirst();
    List<Alternative> tiles = tiles(graph, target);
    assertThat(tiles).extracting(Alternative::name).doesNotHaveDuplicates().isNotEmpty();
    int made = 0;
    for (int i = first % tiles.size(); i < tiles.size(); i += step) {
      Alternative tile = tiles.get(i);
      CompiledProgram compiled = tile.compile().get().orElse(null);
      if (compiled == null) {
        continue;
      }
      made++;
      try (SimulatedExecutable executable = new SimulatedExecutable(compiled)) {
        float[] y = new float[expected.length];
        executable.run(rows, List.of(x), List.of(y));
        assertThat(executable.findings()).as(tile.name()).isEmpty();
        Deviations deviations =
            Verification.deviations(
                IntStream.range(0, y.length).mapToDouble(e -> y[e]).toArray(),
                expected,
                deviation,
                DType.F32,
                false);
        assertThat(deviations.honest()).as("%s: %s", tile.name(), deviations).isTrue();
      }
    }
    assertThat(made).isPositive();
  }

  /** A tile of 8 × 8 is fed by a vector of four for each row and two for its columns. */
  @Test
  void manyRowsAreComputedByTilesOf8x8() {
    Graph graph = graph("mlp:64,64,64:relu", false);
    String first = text(tiles(graph, GpuTarget.SM_90A).getFirst());
    assertThat(first)
        .contains("fc: f32[64] local", "a_frag: f32[32] local", "b_frag: f32[8] local");
  }

  /** A tile of many rows would leave most SMs without any. */
  @Test
  void fewRowsAreSpreadOverSmallTiles() {
    Graph graph = graph("mlp:64,64,64:relu", false);
    List<Alternative> ways =
        NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, Precision.F32, 1000);
    assertThat(ways.getFirst().name()).isEqualTo("shared chaining");
    assertThat(chosen(graph, 1000)).isEqualTo(text(ways.getFirst()));
  }

  private static String chosen(Graph graph, int rows) {
    CompiledProgram program = NetworkCompiler.compile(graph, GpuTarget.SM_90A, Precision.F32, rows);
    return IrPrinter.text(program.kernels().getFirst().kernel());
  }

  private static String text(Alternative way) {
    return IrPrinter.text(way.compile().get().orElseThrow().kernels().getFirst().kernel());
  }
}
