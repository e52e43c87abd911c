package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.fusion.Alternative;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.fusion.PerLayerWay;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.model.function.FunctionOptions;
import dev.warpwright.model.function.NetworkBuilder;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.Value;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.synthetic.RandomDecoderLayer;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A decoder layer as launches one after the other, and as such that overlap. */
final class DecoderLayerKernelsTest {
  private static final long SEED = Long.getLong("seed", 24);

  /**
   * Norm, three projections, rotated queries beside keys and values that are written to their
   * caches, attention in one launch or two, projection with residual, norm, gate and up, down with
   * residual.
   */
  private static final int LAUNCHES = 9;

  private static final String QUERIES = " queries=attention";

  @ParameterizedTest
  @CsvSource({
    "sm_90a, F16, 4, 2, 16, 48, 9, 3, GEMM per layer",
    "sm_90a, BF16, 6, 3, 32, 80, 70, 1, GEMM per layer overlap=1",
    "sm_90a, F16, 4, 1, 64, 272, 33, 2, GEMM per layer overlap=1",
    "sm_90a, BF16, 4, 2, 32, 80, 9, 1, GEMM per layer overlap=1 norms=gemm",
    "sm_90a, F16, 4, 2, 16, 96, 9, 3, GEMM per layer overlap=1 norms=gemm",
    "sm_90a, BF16, 4, 1, 64, 272, 17, 16, GEMM per layer overlap=1 norms=gemm",
    "sm_90a, BF16, 2, 1, 64, 128, 5, 17, GEMM per layer overlap=1 norms=gemm",
    "sm_90a, BF16, 2, 1, 32, 96, 3, 64, GEMM per layer overlap=1 norms=gemm",
    // Where attention makes its queries, one launch less; of heads or parts that it does not, as
    // many as before.
    "sm_90a, BF16, 4, 2, 64, 80, 9, 1, rows=64 keys=64 splits=1 threads=256 stages=3 by=wgmma"
        + " queries=attention",
    "sm_90a, F16, 4, 1, 64, 272, 140, 3, rows=64 keys=64 splits=1 threads=256 stages=2 by=wgmma"
        + " queries=attention",
    "sm_90a, BF16, 4, 2, 128, 96, 70, 16, rows=64 keys=64 splits=1 threads=256 stages=3 by=wgmma"
        + " norms=gemm queries=attention",
    "sm_90a, BF16, 4, 2, 64, 96, 2, 3, rows=64 keys=64 splits=1 threads=256 stages=2 by=wgmma"
        + " norms=gemm queries=attention",
    "sm_90a, BF16, 4, 2, 32, 80, 9, 1, GEMM per layer overlap=1 queries=attention",
    "sm_90a, F16, 4, 1, 64, 96, 33, 2, GEMM per layer overlap=1 norms=gemm queries=attention",
    "sm_80, BF16, 2, 2, 48, 96, 2, 5, GEMM per layer",
    // Parts that the last block combines, by threads that copy and by TMA, begun early.
    "sm_90a, BF16, 6, 3, 32, 80, 70, 1, rows=16 keys=16 splits=4 threads=64 stages=2 combine=last",
    "sm_90a, F16, 4, 1, 64, 272, 140, 2, rows=64 keys=64 splits=2 threads=256 stages=2 by=wgmma"
        + " combine=last"
  })
  void isRight(
      String target,
      Precision precision,
      int heads,
      int kvHeads,
      int size,
      int hidden,
      int keys,
      int rows,
      String way) {
    GpuTarget gpu = GpuTarget.find(target).orElseThrow();
    Graph graph =
        new RandomDecoderLayer(heads, kvHeads, size, hidden, keys).graph(precision.operand(), SEED);
    CompiledProgram program = compiled(graph, gpu, precision, rows, way);
    // GEMMs that norm rows leave two launches out, attention that makes its queries one.
    int launches = way.contains("norms=gemm") ? LAUNCHES - 2 : LAUNCHES;
    assertThat(program.kernels().size()).isLessThanOrEqualTo(launches);
    if (way.startsWith("rows=") && way.endsWith(QUERIES)) {
      assertThat(program.kernels()).hasSize(launches - 2);
    }
    if (!way.endsWith("GEMM per layer")) {
      assertThat(program.program().kernels()).allMatch(LaunchOrder::overlaps);
    } else {
      assertThat(program.program().kernels()).noneMatch(LaunchOrder::overlaps);
    }
    assertThat(program.program().counters()).hasSize(way.endsWith("combine=last") ? 1 : 0);
    assertThat(program.program().steps()).noneMatch(Program.Memset.class::isInstance);
    // Of both caches a place is written each, whoever gives them the same memory copies nothing.
    assertThat(program.program().steps().stream().filter(Program.Carry.class::isInstance))
        .hasSize(2);
    assertRight(program, graph, gpu, precision, rows);
  }

  private static void assertRight(
      CompiledProgram program, Graph graph, GpuTarget gpu, Precision precision, int rows) {
    List<float[]> inputs = new ArrayList<>();
    List<double[]> wide = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(SEED + 1);
    for (Value input : graph.inputs()) {
      double[] values = new double[rows * input.features()];
      // A multiple of 1/16 is one in every type.
      Arrays.setAll(values, i -> Math.round(random.nextGaussian() * 16) / 16.0);
      float[] narrow = new float[values.length];
      for (int i = 0; i < values.length; i++) {
        narrow[i] = (float) values[i];
      }
      inputs.add(narrow);
      wide.add(values);
    }
    List<float[]> results = new ArrayList<>();
    for (Value output : graph.outputs()) {
      float[] poisoned = new float[rows * output.features()];
      Arrays.fill(poisoned, Float.NaN);
      results.add(poisoned);
    }
    try (Executable executable = new SimulatedDevice(gpu).load(program, new ConstantStore())) {
      executable.run(rows, inputs, results);
    }
    List<double[]> expected = GraphEvaluator.evaluate(graph, rows, wide);
    for (int o = 0; o < results.size(); o++) {
      assertThat(relativeError(results.get(o), expected.get(o)))
          .as("%s, seed %d", graph.outputs().get(o), SEED)
          .isLessThan(precision.tolerance());
    }
  }

  /**
   * What was measured of a GEMM is the kernel of the same that norms rows, tiles of few rows too.
   */
  @Test
  void gemmsThatNormAreAsThoseWithoutWereMeasured(@TempDir Path folder) {
    GpuTarget gpu = GpuTarget.SM_90A;
    Environment here = new Environment(gpu.name(), "a GPU", "1", "2", "3");
    Graph graph = new RandomDecoderLayer(4, 2, 32, 96, 5).graph(DType.BF16, SEED);
    GemmWorkload projections = GemmWorkload.nt(3, 256, 128, DType.BF16);
    Point point =
        Point.parse(
            "sketch=wgmma swapped=no tileM=16 tileN=48 tileK=64 minBlocks=1 stages=8 cluster=1x1"
                + " persistent=no");
    Path file = folder.resolve("tuning.db");
    try (TuningDatabase database = TuningDatabase.open(file)) {
      database.add(
          new TuningRecord(
              projections.key(),
              here,
              point,
              "hash",
              new Outcome.Measured(5, 0, 0, 0, 0),
              Instant.EPOCH));
    }
    CompiledProgram program =
        NetworkCompiler.alternative(
                graph,
                gpu,
                Precision.BF16,
                3,
                () -> GemmKernels.of(gpu, here, 132, file),
                PerLayerWay.of("GEMM per layer overlap=1 norms=gemm gemm0=" + point.digest())
                    .orElseThrow())
            .compile()
            .get()
            .orElseThrow();
    String first = program.program().kernels().getFirst().toString();
    assertThat(first).contains("wgmma.m16n48k16.f32.bf16", "squares", "griddepcontrol.wait");
    assertRight(program, graph, gpu, Precision.BF16, 3);
  }

  /**
   * Of two that were measured the faster one, which nobody expects to be; not one for other heads.
   */
  @Test
  void attentionIsAsItWasMeasured(@TempDir Path folder) {
    GpuTarget gpu = GpuTarget.SM_90A;
    Environment here = new Environment(gpu.name(), "a GPU", "1", "2", "3");
    Graph graph = new RandomDecoderLayer(4, 2, 64, 64, 40).graph(DType.BF16, SEED);
    String fast = "rows=16 keys=16 splits=2 threads=32 stages=1";
    Path file = folder.resolve("tuning.db");
    try (TuningDatabase database = TuningDatabase.open(file)) {
      for (String config : List.of("rows=16 keys=32 splits=1 threads=64 stages=2", fast)) {
        Attention measured = Attention.of(3, 4, 2, 64, 1, 40, DType.BF16);
        double micros = config.equals(fast) ? 5 : 6;
        database.add(record(measured, here, config, micros));
        database.add(
            record(Attention.of(3, 4, 1, 64, 1, 40, DType.BF16), here, config, 9 - micros));
      }
    }
    String named = "GEMM per layer overlap=1";
    List<String> kernels = new ArrayList<>();
    for (boolean known : new boolean[] {true, false}) {
      CompiledProgram program =
          NetworkCompiler.alternative(
                  graph,
                  gpu,
                  Precision.BF16,
                  3,
                  () -> known ? GemmKernels.of(gpu, here, 132, file) : GemmKernels.uncompiled(gpu),
                  PerLayerWay.of(
                          known ? named : named + " attention0=" + Point.parse(fast).digest())
                      .orElseThrow())
              .compile()
              .get()
              .orElseThrow();
      kernels.add(
          program.kernels().stream()
              .map(CompiledKernel::kernel)
              .filter(kernel -> kernel.name().contains("attention"))
              .map(kernel -> CudaPrinter.print(kernel, gpu))
              .collect(Collectors.joining()));
    }
    assertThat(kernels.getFirst()).isNotEmpty().isEqualTo(kernels.getLast());
  }

  private static TuningRecord record(
      Attention attention, Environment here, String config, double micros) {
    return new TuningRecord(
        attention.key(),
        here,
        Point.parse(config),
        "hash",
        new Outcome.Measured(micros, 0, 0, 0, 0),
        Instant.EPOCH);
  }

  /** A cache of 40 columns, which others would read with the columns that padding adds. */
  @Test
  void cachesThatPaddingWidensAreWrittenWhole() {
    FunctionOptions options = new FunctionOptions(Precision.F16, 16, false, false).ofLayers();
    Graph narrow = new RandomDecoderLayer(2, 1, 8, 32, 5).graph(DType.F16, SEED);
    assertThat(NetworkBuilder.build(narrow, options).updates()).isEmpty();
    Graph dense = new RandomDecoderLayer(2, 1, 8, 32, 6).graph(DType.F16, SEED);
    assertThat(NetworkBuilder.build(dense, options).updates()).hasSize(2);
  }

  /** Each entry has a cache to be read, so few are computed for nothing. */
  @Test
  void fewRowsArePadded() {
    Graph graph = new RandomDecoderLayer(2, 1, 16, 32, 5).graph(DType.F16, SEED);
    try (CompiledModel model =
        new Model(graph).compile(new SimulatedDevice(GpuTarget.SM_90A), Precision.F16)) {
      assertThat(IntStream.of(1, 3, 8, 13, 100).map(n -> model.program(n).fixedRows().orElse(0)))
          .containsExactly(1, 3, 8, 14, 112);
    }
  }

  private static CompiledProgram compiled(
      Graph graph, GpuTarget gpu, Precision precision, int rows, String way) {
    if (way.startsWith("rows=")) {
      String config = way.replace(" norms=gemm", "").replace(QUERIES, "");
      PerLayerWay named =
          PerLayerWay.of(
                  "GEMM per layer overlap=1"
                      + way.substring(config.length())
                      + " attention0="
                      + Point.parse(config).digest())
              .orElseThrow();
      return NetworkCompiler.alternative(
              graph, gpu, precision, rows, () -> GemmKernels.uncompiled(gpu), named)
          .compile()
          .get()
          .orElseThrow();
    }
    return NetworkCompiler.alternatives(
            graph, gpu, precision, rows, () -> GemmKernels.uncompiled(gpu))
        .stream()
        .filter(alternative -> alternative.name().equals(way))
        .findFirst()
        .map(Alternative::compile)
        .orElseThrow()
        .get()
        .orElseThrow();
  }

  private static double relativeError(float[] results, double[] expected) {
    assertThat(results).hasSameSizeAs(expected);
    double errors = 0;
    double squares = 0;
    for (int i = 0; i < results.length; i++) {
      errors += (results[i] - expected[i]) * (results[i] - expected[i]);
      squares += expected[i] * expected[i];
    }
    return Math.sqrt(errors / squares);
  }
}
