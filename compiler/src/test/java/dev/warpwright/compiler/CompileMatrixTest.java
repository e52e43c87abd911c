package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.Nvcc;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.model.function.Precision;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every model in every precision for every target that has it: one kernel within the target's
 * limits, and where nvcc is installed, machine code without spills. One line of figures for each
 * goes to standard output.
 */
class CompileMatrixTest {
  private static final Path MODELS = Path.of("..", "models");
  private static final int ROWS = 4096;

  @TestFactory
  Stream<DynamicTest> everyModelCompiles() throws IOException {
    Optional<Nvcc> nvcc = CudaCompilers.nvcc();
    if (nvcc.isEmpty()) {
      System.out.println("nvcc is not installed: the matrix is lowered and printed, not compiled");
    }
    List<DynamicTest> tests = new ArrayList<>();
    for (Path model : models()) {
      Graph graph = Warpwright.load(model).graph();
      for (Precision precision : Precision.values()) {
        for (GpuTarget target : GpuTarget.ALL) {
          if (Precisions.supports(target, precision)) {
            String name =
                model.getParent().getFileName() + " " + precision.text() + " " + target.name();
            tests.add(
                DynamicTest.dynamicTest(
                    name, () -> compiles(name, graph, precision, target, nvcc.orElse(null))));
          }
        }
      }
    }
    assertThat(tests).hasSizeGreaterThanOrEqualTo(7 * 18);
    return tests.stream();
  }

  @TestFactory
  Stream<DynamicTest> widths512AreOneKernelEverywhere() {
    return everyTarget(
        (precision, target) -> {
          Graph graph = RandomNetworks.plain(new Random(512), 6, 512);
          try (CompiledModel model = new CompiledModel(graph, new OfflineGpu(target), precision)) {
            CompiledProgram program = model.program(ROWS);
            assertThat(program.kernels()).hasSize(1);
            assertThat(KernelResources.of(program.kernels().getFirst().kernel()).sharedBytes())
                .isLessThanOrEqualTo(target.sharedPerBlock());
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> layersOfWideNetworksDoNotSpill() {
    Optional<Nvcc> nvcc = CudaCompilers.nvcc();
    Graph graph = RandomNetworks.of(new Random(7), 3, 4096);
    return everyTarget(
        (precision, target) -> {
          try (CompiledModel model = new CompiledModel(graph, new OfflineGpu(target), precision)) {
            CompiledProgram program = model.program(ROWS);
            assertThat(program.kernels()).hasSizeGreaterThan(2);
            if (nvcc.isPresent()) {
              CompileRequest request = new CompileRequest(model.cudaSource(ROWS), target.name());
              for (ResourceUsage usage : nvcc.get().compile(request).usage()) {
                assertThat(usage.spillStores() + usage.spillLoads()).as(usage.kernel()).isZero();
                assertThat(usage.staticShared()).isLessThanOrEqualTo(GpuTarget.STATIC_SHARED);
              }
            }
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> everyOperatorCompiles() {
    Optional<Nvcc> nvcc = CudaCompilers.nvcc();
    Graph graph = RandomNetworks.everything(new Random(5), 17, 32);
    return Stream.of(
        DynamicTest.dynamicTest(
            "f32 sm_75", () -> compiles(graph, Precision.F32, GpuTarget.SM_75, nvcc)),
        DynamicTest.dynamicTest(
            "f16 sm_90a", () -> compiles(graph, Precision.F16, GpuTarget.SM_90A, nvcc)));
  }

  private static void compiles(
      Graph graph, Precision precision, GpuTarget target, Optional<Nvcc> nvcc) throws IOException {
    try (CompiledModel model = new CompiledModel(graph, new OfflineGpu(target), precision)) {
      String source = model.cudaSource(ROWS);
      assertThat(source).contains("__global__");
      if (nvcc.isPresent()) {
        Cubin cubin = nvcc.get().compile(new CompileRequest(source, target.name()));
        for (ResourceUsage usage : cubin.usage()) {
          assertThat(usage.warnings()).isEmpty();
        }
      }
    }
  }

  private static Stream<DynamicTest> everyTarget(BiConsumer<Precision, GpuTarget> check) {
    List<DynamicTest> tests = new ArrayList<>();
    for (Precision precision : Precision.values()) {
      for (GpuTarget target : GpuTarget.ALL) {
        if (Precisions.supports(target, precision)) {
          tests.add(
              DynamicTest.dynamicTest(
                  precision.text() + " " + target.name(), () -> check.accept(precision, target)));
        }
      }
    }
    return tests.stream();
  }

  private static List<Path> models() throws IOException {
    try (Stream<Path> files = Files.list(MODELS)) {
      return files.map(f -> f.resolve("model.onnx")).filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static void compiles(
      String name,
      Graph graph,
      Precision precision,
      GpuTarget target,
      @Nullable CudaCompiler compiler) {
    try (CompiledModel model = new CompiledModel(graph, new OfflineGpu(target), precision)) {
      CompiledProgram program = model.program(ROWS);
      assertThat(program.kernels()).hasSize(1);
      CompiledKernel kernel = program.kernels().getFirst();
      int shared = KernelResources.of(kernel.kernel()).sharedBytes();
      assertThat(shared).isLessThanOrEqualTo(target.sharedPerBlock());
      String source = model.cudaSource(ROWS);
      if (compiler == null) {
        return;
      }
      long start = System.nanoTime();
      Cubin cubin = compiler.compile(new CompileRequest(source, target.name()));
      double seconds = (System.nanoTime() - start) / 1e9;
      ResourceUsage usage = cubin.usage(kernel.kernel().name()).orElseThrow();
      System.out.printf(
          Locale.ROOT,
          "%-44s %3d registers, %6d B shared, %2d B stack, %6d B cubin, %.1f s%n",
          name,
          usage.registers(),
          shared,
          usage.localBytes(),
          cubin.size(),
          seconds);
      assertThat(usage.spillStores() + usage.spillLoads()).as("spills").isZero();
      assertThat(usage.warnings()).isEmpty();
      assertThat(usage.registers()).isLessThanOrEqualTo(GpuTarget.REGISTERS_PER_THREAD);
      int threads = (int) kernel.tileProgram().attrs().getLong("threads", 0);
      assertThat(target.blocksPerSm(threads, usage.registers(), shared)).isPositive();
    }
  }
}
