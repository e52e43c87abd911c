package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileError;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.Nvcc;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.workload.Precision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every model in every precision for every target that has it: one kernel within the target's
 * limits, and where nvcc is installed, machine code without spills. One line of figures for each
 * goes to standard output. Of the targets between sm_80 and sm_89, which are much alike, one a day,
 * and half of the precisions and of the models is compiled; in f32, whose products are those of
 * threads everywhere and take nvcc longest, sm_75, one of those, or sm_90a. {@code
 * -Dwarpwright.matrix=all} compiles all.
 */
class CompileMatrixTest {
  private static final Path MODELS = Path.of("..", "models");
  private static final int ROWS = 4096;

  /** For what only has to compile. */
  private static final List<String> UNOPTIMIZED = List.of("-Xcicc", "-O0", "-Xptxas", "-O0");

  private static final long DAY = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());
  private static final List<GpuTarget> AMPERE =
      List.of(GpuTarget.SM_80, GpuTarget.SM_86, GpuTarget.SM_89);
  private static final boolean ALL = System.getProperty("warpwright.matrix", "").equals("all");

  /** The models whose day it is: each precision comes with every one of them in four days. */
  private static Set<String> due(Collection<String> models) {
    List<String> inOrder = List.copyOf(models);
    return inOrder.stream()
        .filter(model -> ALL || (inOrder.indexOf(model) + DAY / 2) % 2 == 0)
        .collect(Collectors.toSet());
  }

  /** The compiler for a target, if it is this target's day, and this precision's. */
  private static @Nullable Nvcc compiler(
      Precision precision, GpuTarget target, Optional<Nvcc> nvcc) {
    return isDue(precision, target) ? nvcc.orElse(null) : null;
  }

  private static boolean isDue(Precision precision, GpuTarget target) {
    if (ALL) {
      return true;
    }
    boolean today = (precision.ordinal() + DAY) % 2 == 0;
    if (precision == Precision.F32) {
      // Each comes with either half of the models, and each of those alike has its turn.
      List<GpuTarget> turns = List.of(GpuTarget.SM_75, turn(AMPERE, DAY / 6), GpuTarget.SM_90A);
      return today && turn(turns, DAY / 2).equals(target);
    }
    return today && (!AMPERE.contains(target) || turn(AMPERE, DAY).equals(target));
  }

  private static <T> T turn(List<T> of, long day) {
    return of.get(Math.toIntExact(day % of.size()));
  }

  /**
   * A simulated GPU's kernels are the first choices; nvcc is asked whether those of another spill.
   */
  private static Device device(Precision precision, GpuTarget target) {
    return isDue(precision, target) ? new OfflineGpu(target) : new SimulatedDevice(target);
  }

  @TestFactory
  Stream<DynamicTest> everyModelCompiles() throws IOException {
    Optional<Nvcc> nvcc = CudaCompilers.nvcc();
    if (nvcc.isEmpty()) {
      System.out.println("nvcc is not installed: the matrix is lowered and printed, not compiled");
    }
    Map<String, Graph> graphs = new LinkedHashMap<>();
    for (Path model : models()) {
      graphs.put(model.getParent().getFileName().toString(), Warpwright.load(model).graph());
    }
    assertThat(graphs).hasSizeGreaterThanOrEqualTo(7);
    Set<String> due = due(graphs.keySet());
    return everyTarget(
        (precision, target) ->
            Unit.of(graphs, due, precision, target, compiler(precision, target, nvcc)),
        (precision, target, unit) ->
            graphs.keySet().stream()
                .map(
                    model -> {
                      String name = model + " " + precision.text() + " " + target.name();
                      return DynamicTest.dynamicTest(
                          name,
                          () ->
                              unit.get()
                                  .check(
                                      model,
                                      name,
                                      due.contains(model)
                                          ? compiler(precision, target, nvcc)
                                          : null));
                    }));
  }

  @TestFactory
  Stream<DynamicTest> widths512CanBeOneKernelEverywhere() {
    Graph graph = RandomNetworks.plain(new Random(512), 6, 512);
    return everyTargetOnce(
        (precision, target) ->
            assertThat(KernelResources.of(oneKernel(graph, precision, target)).sharedBytes())
                .isLessThanOrEqualTo(target.sharedPerBlock()));
  }

  /** A network in the first way to make it one kernel, faster or not than one for each layer. */
  private static Kernel oneKernel(Graph graph, Precision precision, GpuTarget target) {
    CompiledProgram program =
        NetworkCompiler.alternatives(graph, target, precision).stream()
            .map(way -> way.compile().get())
            .flatMap(Optional::stream)
            .findFirst()
            .orElseThrow();
    assertThat(program.kernels()).hasSize(1);
    return program.kernels().getFirst().kernel();
  }

  @TestFactory
  Stream<DynamicTest> layersOfWideNetworksDoNotSpill() {
    Optional<Nvcc> nvcc = CudaCompilers.nvcc();
    Graph graph = RandomNetworks.of(new Random(7), 3, 4096);
    return everyTargetOnce(
        (precision, target) -> {
          try (CompiledModel model =
              new CompiledModel(graph, device(precision, target), precision)) {
            CompiledProgram program = model.program(ROWS);
            assertThat(program.kernels()).hasSizeGreaterThan(2);
            Nvcc compiler = compiler(precision, target, nvcc);
            if (compiler != null) {
              CompileRequest request = new CompileRequest(model.cudaSource(ROWS), target.name());
              for (ResourceUsage usage : compiler.compile(request).usage()) {
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
    DynamicTest f32 =
        DynamicTest.dynamicTest(
            "f32 sm_75", () -> compiles(graph, Precision.F32, GpuTarget.SM_75, nvcc));
    DynamicTest f16 =
        DynamicTest.dynamicTest(
            "f16 sm_90a", () -> compiles(graph, Precision.F16, GpuTarget.SM_90A, nvcc));
    return ALL ? Stream.of(f32, f16) : Stream.of(DAY % 2 == 0 ? f32 : f16);
  }

  private static void compiles(
      Graph graph, Precision precision, GpuTarget target, Optional<Nvcc> nvcc) throws IOException {
    try (CompiledModel model = new CompiledModel(graph, new OfflineGpu(target), precision)) {
      String source = model.cudaSource(ROWS);
      assertThat(source).contains("__global__");
      if (nvcc.isPresent()) {
        Cubin cubin = nvcc.get().compile(new CompileRequest(source, target.name(), UNOPTIMIZED));
        for (ResourceUsage usage : cubin.usage()) {
          assertThat(usage.warnings()).isEmpty();
        }
      }
    }
  }

  private static Stream<DynamicTest> everyTargetOnce(BiConsumer<Precision, GpuTarget> check) {
    return everyTarget(
        (precision, target) -> {
          check.accept(precision, target);
          return true;
        },
        (precision, target, done) ->
            Stream.of(DynamicTest.dynamicTest(precision.text() + " " + target.name(), done::get)));
  }

  /** The tests of what is made for a precision and a target, which all processors make. */
  private static <T> Stream<DynamicTest> everyTarget(
      BiFunction<Precision, GpuTarget, T> make, TestsOf<T> tests) {
    ExecutorService pool =
        Executors.newFixedThreadPool(
            Runtime.getRuntime().availableProcessors(), Thread.ofPlatform().daemon().factory());
    List<DynamicTest> all = new ArrayList<>();
    for (Precision precision : Precision.OF_NETWORKS) {
      for (GpuTarget target : GpuTarget.ALL) {
        if (precision.supportedBy(target)) {
          Future<T> made = pool.submit(() -> make.apply(precision, target));
          tests.of(precision, target, made).forEach(all::add);
        }
      }
    }
    assertThat(all).hasSizeGreaterThanOrEqualTo(18);
    return all.stream().onClose(pool::shutdownNow);
  }

  @FunctionalInterface
  private interface TestsOf<T> {
    Stream<DynamicTest> of(Precision precision, GpuTarget target, Future<T> made);
  }

  private static List<Path> models() throws IOException {
    try (Stream<Path> files = Files.list(MODELS)) {
      return files.map(f -> f.resolve("model.onnx")).filter(Files::isRegularFile).sorted().toList();
    }
  }

  /**
   * The kernels of all models for a precision and a target, in one translation unit: most of nvcc's
   * time goes before it comes to the kernel.
   *
   * @param kernels by the model's name, each named after it; those that are due are compiled
   * @param cubin null if there is no compiler, or one of the kernels does not compile
   */
  private record Unit(GpuTarget target, Map<String, Kernel> kernels, @Nullable Cubin cubin) {
    static Unit of(
        Map<String, Graph> graphs,
        Set<String> due,
        Precision precision,
        GpuTarget target,
        @Nullable CudaCompiler compiler) {
      Map<String, Kernel> kernels = new LinkedHashMap<>();
      graphs.forEach(
          (name, graph) ->
              kernels.put(
                  name,
                  oneKernel(graph, precision, target).withName("k_" + name.replace('-', '_'))));
      if (compiler == null) {
        return new Unit(target, kernels, null);
      }
      List<Kernel> compiled = new ArrayList<>();
      kernels.forEach(
          (name, kernel) -> {
            if (due.contains(name)) {
              compiled.add(kernel);
            }
          });
      String source = CudaPrinter.print(compiled, target);
      try {
        Cubin cubin = compiler.compile(new CompileRequest(source, target.name()));
        return new Unit(target, kernels, cubin);
      } catch (CompileError e) {
        return new Unit(target, kernels, null);
      }
    }

    void check(String model, String name, @Nullable CudaCompiler compiler) {
      Kernel kernel = Objects.requireNonNull(kernels.get(model));
      int shared = KernelResources.of(kernel).sharedBytes();
      assertThat(shared).isLessThanOrEqualTo(target.sharedPerBlock());
      String source = CudaPrinter.print(kernel, target);
      assertThat(source).contains("__global__");
      if (compiler == null) {
        return;
      }
      // Where the unit failed, each kernel is compiled alone: one of them is to blame.
      Cubin compiled =
          cubin == null ? compiler.compile(new CompileRequest(source, target.name())) : cubin;
      ResourceUsage usage = compiled.usage(CudaPrinter.functionName(kernel)).orElseThrow();
      System.out.printf(
          Locale.ROOT,
          "%-44s %3d registers, %6d B shared, %2d B stack, %6d B code%n",
          name,
          usage.registers(),
          shared,
          usage.localBytes(),
          compiled.codeBytes(usage.kernel()));
      assertThat(usage.spillStores() + usage.spillLoads()).as("spills").isZero();
      assertThat(usage.warnings()).isEmpty();
      assertThat(usage.registers()).isLessThanOrEqualTo(GpuTarget.REGISTERS_PER_THREAD);
      int threads = Math.toIntExact(ScalarEval.eval(kernel.extent(ThreadAxis.THREAD_X), Map.of()));
      assertThat(target.blocksPerSm(threads, usage.registers(), shared)).isPositive();
    }
  }
}
