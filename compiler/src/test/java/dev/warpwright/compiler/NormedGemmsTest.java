package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.fusion.PerLayerWay;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Networks of GEMMs that norm the rows that they read. */
final class NormedGemmsTest {
  private static final String WAY = "GEMM per layer overlap=1";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // Sums that are added to stay in f32: their norm is of what GEMMs do not read.
        "front | 128,128,96,128 | f16  | 1  | sm_90a | 1",
        "front | 64,192,192     | bf16 | 17 | sm_90a | 2",
        "front | 256,128,256    | bf16 | 64 | sm_90a | 2",
        // Padding adds columns.
        "front | 100,128,90,64  | f16  | 5  | sm_90a | 0",
        // What a formula reads, too, is computed by itself.
        "kept  | 128,128,96,128 | f16  | 3  | sm_90a | 0",
        "front | 128,128,96,128 | f16  | 3  | sm_80  | 0",
      })
  void rowsAreNormedOnce(
      String norm, String widths, String type, int rows, String target, int within) {
    GpuTarget gpu = GpuTarget.find(target).orElseThrow();
    int[] columns = Arrays.stream(widths.split(",")).mapToInt(Integer::parseInt).toArray();
    Graph graph = RandomNetworks.normed(new Random(7), norm, columns);
    Precision precision = Precision.parse(type);
    CompiledProgram plain = program(graph, gpu, precision, rows, WAY);
    CompiledProgram normed = program(graph, gpu, precision, rows, WAY + " norms=gemm");
    assertThat(plain.kernels().size() - normed.kernels().size()).isEqualTo(within);
    RandomRows data = new RandomRows(graph, rows, 7);
    float[] y = new float[rows * graph.outputs().getFirst().features()];
    Arrays.fill(y, Float.NaN);
    try (Executable executable = new SimulatedDevice(gpu).load(normed, new ConstantStore())) {
      executable.run(rows, List.of(data.x()), List.of(y));
    }
    data.check(y, precision);
  }

  private static CompiledProgram program(
      Graph graph, GpuTarget gpu, Precision precision, int rows, String way) {
    return NetworkCompiler.alternative(
            graph,
            gpu,
            precision,
            rows,
            () -> GemmKernels.uncompiled(gpu),
            PerLayerWay.of(way).orElseThrow())
        .compile()
        .get()
        .orElseThrow();
  }
}
