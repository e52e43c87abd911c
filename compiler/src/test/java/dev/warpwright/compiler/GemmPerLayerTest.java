package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.fusion.Alternative;
import dev.warpwright.compiler.fusion.FusionTimes;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Networks with a GEMM for each layer: right for any widths and rows, and taken where expected. */
final class GemmPerLayerTest {
  private static final long SEED = Long.getLong("seed", 18);

  private static Graph mlp(String widths, String activation, boolean bias, Precision precision) {
    List<Integer> all = Arrays.stream(widths.split("-", -1)).map(Integer::valueOf).toList();
    return RandomMlp.of(
        new Architecture.Mlp(all, Collections.nCopies(all.size() - 2, activation)),
        bias,
        precision.operand(),
        SEED);
  }

  /** What {@code preferred} asks for, whatever is expected of it. */
  private static CompiledProgram byLayer(
      Graph graph, GpuTarget target, Precision precision, int rows) {
    try (GemmKernels products = GemmKernels.uncompiled(target)) {
      return NetworkCompiler.compile(
          graph, target, precision, rows, products, NetworkCompiler.GEMM_PER_LAYER);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "sm_90a, F16, 320-320-320, relu, false, 17, 2",
    "sm_90a, BF16, 3-272-96-5, gelu, true, 70, 5",
    "sm_90a, F16, 64-400-64, sin, true, 1, 2",
    "sm_80, F16, 16-272-16, silu, true, 33, 2",
    "sm_80, BF16, 2-144-3, tanh, false, 40, 4",
    "sm_90a, F32, 80-144-48, relu, true, 17, 2",
    "sm_80, F32, 5-96-7, tanh, true, 1, 4",
    "sm_90a, F16_ACCUMULATORS, 320-320-320, relu, true, 17, 2",
    "sm_80, F16_ACCUMULATORS, 16-272-16, silu, true, 33, 2"
  })
  void rightForAnyShape(
      String target,
      Precision precision,
      String widths,
      String activation,
      boolean bias,
      int rows,
      int launches) {
    Graph graph = mlp(widths, activation, bias, precision);
    GpuTarget gpu = GpuTarget.find(target).orElseThrow();
    CompiledProgram program = byLayer(graph, gpu, precision, rows);
    assertThat(program.fixedRows()).hasValue(rows);
    assertThat(program.kernels()).hasSize(launches);
    // Nothing is written wider than the network's type.
    assertThat(program.network().outputs().getFirst().dtype()).isEqualTo(precision.operand());
    check(graph, program, gpu, precision, rows);
  }

  private static void check(
      Graph graph, CompiledProgram program, GpuTarget gpu, Precision precision, int rows) {
    RandomRows data = new RandomRows(graph, rows, SEED);
    float[] y = new float[rows * graph.outputs().getFirst().features()];
    try (Executable executable = new SimulatedDevice(gpu).load(program, new ConstantStore())) {
      executable.run(rows, List.of(data.x()), List.of(y));
    }
    data.check(y, precision);
  }

  /** Measured on an H200: which of the two is faster, and by how much at least. */
  @ParameterizedTest
  @CsvSource({
    // 68, 174 and 423 us; one GEMM's bytes alone take 56, 112 and 168.
    "64-64-64-64-64, F16, 1048576, false",
    "128-128-128-128-128, F16, 1048576, false",
    "192-192-192-192-192, F16, 1048576, false",
    // 794 us; 224 for a GEMM's bytes.
    "256-256-256-256-256, F16, 1048576, false",
    // 877 us through shared memory; cuBLASLt takes 58 for one GEMM.
    "512-512-512-512-512, F16, 65536, true",
    // One block's weights: 16.6 us and 3.8 us.
    "128-128-128-128-128-128-128-128-128, F16, 256, false",
    "64-64-64-64-64, F16, 256, false",
    "512-512-512-512-512, F16, 16, true",
    // 863 us by tiles of registers; the model expects 257 of one GEMM, and 755 of a wide one.
    "64-64-64-64-64, F32, 1048576, false",
    "512-512-512-512-512, F32, 65536, true"
  })
  void takenWhereItIsFaster(String widths, Precision precision, int rows, boolean faster) {
    Graph graph = mlp(widths, "relu", false, precision);
    FusionTimes times =
        NetworkCompiler.expected(graph, GpuTarget.SM_90A, precision, rows).orElseThrow();
    assertThat(times.areLayersFaster()).as(times.text()).isEqualTo(faster);
    assertThat(NetworkCompiler.isByLayer(graph, GpuTarget.SM_90A, precision, rows))
        .isEqualTo(faster);
  }

  /** What is expected of networks is within a third of what was measured. */
  @ParameterizedTest
  @CsvSource({
    "64-64-64-64-64, F16, 1048576, 68.4",
    "128-128-128-128-128, F16, 1048576, 174.6",
    "192-192-192-192-192, F16, 1048576, 423.3",
    "256-256-256-256-256, F16, 1048576, 794.1",
    "128-128-128-128-128-128-128-128-128, F16, 256, 6.23",
    "512-512-512-512-512, F16, 65536, 877.0",
    "64-64-64-64-64, F32, 1048576, 863.2",
    "128-128-128-128-128, F32, 1048576, 3369.8"
  })
  void expectedTimesAreNearMeasuredOnes(
      String widths, Precision precision, int rows, double measured) {
    FusionTimes times =
        NetworkCompiler.expected(
                mlp(widths, "relu", false, precision), GpuTarget.SM_90A, precision, rows)
            .orElseThrow();
    assertThat(times.oneKernel()).isBetween(measured / 1.34, measured * 1.34);
  }

  /** Launches of the way that overlap are one kernel for layers of a shape, and right. */
  @ParameterizedTest
  @CsvSource({
    "320-320-320-320, F16, 130, overlap=1",
    "528-528-528-528, BF16, 16, overlap=1",
    "320-320-320-320, F16, 130, overlap=weights"
  })
  void overlappingLaunches(String widths, Precision precision, int rows, String how) {
    Graph graph = mlp(widths, "relu", true, precision);
    CompiledProgram program =
        NetworkCompiler.alternatives(
                graph,
                GpuTarget.SM_90A,
                precision,
                rows,
                () -> GemmKernels.uncompiled(GpuTarget.SM_90A))
            .stream()
            .filter(alternative -> alternative.name().equals("GEMM per layer " + how))
            .findFirst()
            .orElseThrow()
            .compile()
            .get()
            .orElseThrow();
    assertThat(program.program().kernels()).hasSize(2).allMatch(LaunchOrder::overlaps);
    assertThat(program.kernels()).hasSize(3);
    check(graph, program, GpuTarget.SM_90A, precision, rows);
  }

  /** The way is among those that are measured where it might be the fastest, and only there. */
  @Test
  void amongTheWays() {
    assertThat(ways("512-512-512", Precision.F16, 1 << 18).getFirst())
        .isEqualTo(NetworkCompiler.GEMM_PER_LAYER);
    assertThat(ways("512-512-512", Precision.F16, 4096))
        .startsWith(NetworkCompiler.GEMM_PER_LAYER + " overlap=1", NetworkCompiler.GEMM_PER_LAYER);
    assertThat(ways("256-256-256", Precision.F16, 1 << 20))
        .contains(NetworkCompiler.GEMM_PER_LAYER)
        .first()
        .asString()
        .startsWith("register chaining");
    assertThat(ways("64-64-64", Precision.F16, 1 << 20))
        .doesNotContain(NetworkCompiler.GEMM_PER_LAYER);
    // The families compute no tf32 that is exact enough for several layers.
    assertThat(ways("512-512-512", Precision.TF32, 4096))
        .doesNotContain(NetworkCompiler.GEMM_PER_LAYER);
  }

  private static List<String> ways(String widths, Precision precision, int rows) {
    return NetworkCompiler.alternatives(
            mlp(widths, "relu", false, precision),
            GpuTarget.SM_90A,
            precision,
            rows,
            () -> GemmKernels.uncompiled(GpuTarget.SM_90A))
        .stream()
        .map(Alternative::name)
        .toList();
  }

  /** Each layer begins with the rows that the layer before it wrote last. */
  @Test
  void layersGoToAndFro() {
    Graph graph = mlp("512-512-512-512-512", "relu", false, Precision.F16);
    CompiledProgram program = byLayer(graph, GpuTarget.SM_90A, Precision.F16, 65536);
    assertThat(program.kernels()).hasSize(4);
    List<Buffer> tables = new ArrayList<>();
    for (Program.Step step : program.program().steps()) {
      if (step instanceof Program.Launch launch) {
        launch.arguments().stream()
            .filter(Program.BufferArgument.class::isInstance)
            .map(argument -> ((Program.BufferArgument) argument).buffer())
            .filter(buffer -> buffer.dtype() == DType.I32)
            .forEach(tables::add);
      }
    }
    assertThat(tables).hasSize(4);
    // The first three layers share a kernel, the last one has no activation.
    assertThat(tables.get(2)).isEqualTo(tables.get(0));
    List<Integer> first = contents(program, tables.get(0));
    assertThat(first).hasSizeGreaterThan(500).doesNotHaveDuplicates();
    assertThat(contents(program, tables.get(1))).isEqualTo(first.reversed());
    assertThat(contents(program, tables.get(3)).getFirst() >> 16)
        .as("the last row of tiles")
        .isEqualTo(first.stream().mapToInt(tile -> tile >> 16).max().orElseThrow());
  }

  private static List<Integer> contents(CompiledProgram program, Buffer table) {
    Constant constant =
        program.constants().stream()
            .map(PackedConstant::constant)
            .filter(c -> c.buffer().equals(table))
            .findFirst()
            .orElseThrow();
    return IntStream.range(0, (int) table.extent(0))
        .mapToObj(i -> (int) constant.source().longAt(i))
        .toList();
  }

  /** The program of {@code run}: for the rows asked for, and a GEMM for each layer. */
  @Test
  void whatRunTakes() {
    Graph graph = mlp("272-272-272", "relu", true, Precision.F16);
    try (var device = new SimulatedDevice(GpuTarget.SM_90A);
        CompiledModel compiled = new Model(graph).compile(device, Precision.F16)) {
      CompiledProgram program = compiled.program(100);
      assertThat(program.fixedRows()).hasValue(128);
      assertThat(program.kernels()).hasSize(2);
      assertThat(program.kernels().getFirst().why())
          .contains("a GEMM for each layer is expected to take");
      assertThat(compiled.program(120)).isSameAs(program);
      assertThat(compiled.program(129).fixedRows()).hasValue(160);
    }
  }
}
