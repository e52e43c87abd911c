package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.compiler.execute.SimulatedExecutable;
import dev.warpwright.compiler.fusion.Alternative;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Networks with norms whose activations stay in registers, beside double precision. */
class NormChainTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "layer   | 64,64,64,64     | f16  | 130 | sm_90a", // all weights stay
        "rms     | 128,96,128,17   | bf16 | 65  | sm_90a", // rows that several formulas read
        "layer   | 17,33,17,5      | f16  | 65  | sm_90a", // columns that padding added
        "before  | 64,64,64,64     | bf16 | 65  | sm_90a", // of inputs, and of sums kept in f32
        "softmax | 48,80,10        | bf16 | 70  | sm_90a", // maxima, groups of 16 columns
        "rms     | 3,64,48,1       | f16  | 70  | sm_90a", // formulas of inputs, one result
        "layer   | 64,96,64        | bf16 | 70  | sm_80", // 32 rows a warp
        "before  | 128,128,128     | f16  | 33  | sm_86", // 16 rows, and sums kept in f32
        "rms     | 17,33,16        | f16  | 40  | sm_89", // columns that padding added
        "softmax | 48,80,10        | bf16 | 33  | sm_80", // maxima
      })
  void computesWhatTheGraphSays(String norm, String widths, String type, int rows, String target) {
    int[] columns = Arrays.stream(widths.split(",")).mapToInt(Integer::parseInt).toArray();
    computesWhatTheGraphSays(
        RandomNetworks.normed(new Random(5), norm, columns),
        Precision.parse(type),
        rows,
        GpuTarget.find(target).orElseThrow());
  }

  /** Weights flow, no parts of columns: for so few rows a GEMM a layer is expected to be faster. */
  @Test
  void wideRowsWhoseWeightsFlow() {
    Graph graph = RandomNetworks.normed(new Random(5), "layer", 256, 256, 256);
    Alternative way =
        NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, Precision.F16, 1 << 20).getFirst();
    assertThat(way.name()).startsWith("register chaining consumers=");
    int rows = 65;
    float[] x = HonestResults.inputs(graph, rows, 1);
    float[] y = new float[rows * graph.outputs().getFirst().features()];
    try (SimulatedExecutable executable =
        new SimulatedExecutable(way.compile().get().orElseThrow())) {
      executable.run(rows, List.of(x), List.of(y));
      assertThat(executable.findings()).isEmpty();
    }
    HonestResults.assertRight(way.name(), graph, Precision.F16, DType.F16, rows, x, y);
  }

  /** Whatever widths and kinds come. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void randomNetworksAreRight(int seed) {
    Random random = new Random(seed);
    String norm = List.of("layer", "rms", "softmax", "before").get(seed % 4);
    int[] widths = random.ints(2 + random.nextInt(3), 8, seed % 2 == 0 ? 257 : 129).toArray();
    computesWhatTheGraphSays(
        RandomNetworks.normed(random, norm, widths),
        random.nextBoolean() ? Precision.F16 : Precision.BF16,
        1 + random.nextInt(129),
        GpuTarget.SM_90A);
  }

  /** What a norm needs fits beside what is carried, up to the widest layers. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "layer  | 64,64,64,64 | f16",
        "layer  | 256,256,256 | f16",
      })
  void nothingSpills(String norm, String widths, String type) throws IOException {
    Optional<CudaCompiler> compiler = CudaCompilers.system();
    assumeTrue(compiler.isPresent(), "no CUDA compiler: networks with norms are not compiled");
    int[] columns = Arrays.stream(widths.split(",")).mapToInt(Integer::parseInt).toArray();
    Graph graph = RandomNetworks.normed(new Random(5), norm, columns);
    Alternative way =
        NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, Precision.parse(type), 1 << 20)
            .getFirst();
    assertThat(way.name()).startsWith("register chaining consumers=");
    String text =
        CudaPrinter.print(
            way.compile().get().orElseThrow().kernels().getFirst().kernel(), GpuTarget.SM_90A);
    assertThat(compiler.get().compile(new CompileRequest(text, "sm_90a")).usage())
        .singleElement()
        .matches(ResourceUsage::isClean);
  }

  private static void computesWhatTheGraphSays(
      Graph graph, Precision precision, int rows, GpuTarget target) {
    float[] x = HonestResults.inputs(graph, rows, 1);
    try (CompiledModel model = new CompiledModel(graph, new SimulatedDevice(target), precision)) {
      CompiledKernel kernel = model.program(rows).kernels().getFirst();
      assertThat(kernel.strategy()).as(kernel.why()).isEqualTo("register chaining");
      float[] y = model.run(x);
      assertThat(model.executable(rows).findings()).isEmpty();
      DType result = model.program(rows).network().outputs().getFirst().dtype();
      HonestResults.assertRight(kernel.why(), graph, precision, result, rows, x, y);
    }
  }
}
