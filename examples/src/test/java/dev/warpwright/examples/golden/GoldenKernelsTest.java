package dev.warpwright.examples.golden;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.OfflineGpu;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.examples.ladder.TensorRung;
import dev.warpwright.families.ffn.PersistentFusedGemms;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.host.HostLowering;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.HostTarget;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Products of the families and whole networks, on GPUs and CPUs, at small sizes: the tile program,
 * the kernel after each pass, and its CUDA C++, which compiles. The ladder's rungs have a test of
 * their own.
 */
final class GoldenKernelsTest {
  private static final int ROWS = 64;
  private static final BlockOrder ORDER = new BlockOrder.Grouped(2);
  private static final HostTarget AVX512 = new HostTarget(512, 4);

  /** A tile program for a GPU. */
  private record Gpu(String name, GpuTarget target, PrimFunc tiles, Set<Buffer> constants) {
    Gpu(String name, GpuTarget target, PrimFunc tiles) {
      this(name, target, tiles, Set.of());
    }
  }

  private static List<Gpu> gpu() {
    GpuTarget hopper = GpuTarget.SM_90A;
    HopperConfig pairs = HopperConfig.pairs(64, 64, 3, 1, 2);
    HopperConfig few = new HopperConfig(16, 64, 128, 3, 1, 1, 1, ORDER, 0, 2, true);
    AmpereConfig small = new AmpereConfig(64, 64, 32, 3, 2, 2, 1, ORDER, false);
    List<Gpu> all = new ArrayList<>();
    all.add(
        new Gpu(
            "hopper-nt-bf16",
            hopper,
            HopperGemm.schedule(GemmWorkload.nt(256, 256, 128, DType.BF16), pairs).tiles()));
    all.add(
        new Gpu(
            "hopper-nn-f16-two-consumers",
            hopper,
            HopperGemm.schedule(
                    GemmWorkload.of(256, 256, 128, DType.F16, Layout.NN),
                    HopperConfig.pairs(128, 128, 2, 2, 2))
                .tiles()));
    all.add(
        new Gpu(
            "hopper-few-rows",
            hopper,
            HopperGemm.schedule(GemmWorkload.nt(16, 256, 256, DType.BF16), few).tiles()));
    all.add(
        new Gpu(
            "hopper-odd-rows",
            hopper,
            TensorRung.WGMMA.schedule(127, 129, 131, hopper, 2).tiles()));
    all.add(
        new Gpu(
            "mma-nt-bf16-sm80",
            GpuTarget.SM_80,
            AmpereGemm.schedule(GemmWorkload.nt(128, 128, 128, DType.BF16), small, GpuTarget.SM_80)
                .tiles()));
    all.add(
        new Gpu(
            "mma-nn-f16-odd-sm75",
            GpuTarget.SM_75,
            AmpereGemm.schedule(
                    GemmWorkload.of(70, 131, 77, DType.F16, Layout.NN), small, GpuTarget.SM_75)
                .tiles()));
    all.add(
        new Gpu(
            "merged-ffn-f16-sm80",
            GpuTarget.SM_80,
            PersistentFusedGemms.schedule(
                    new FfnWorkload(128, 64, 128, 72, DType.F16),
                    small,
                    new PersistentFusedGemms.Sharing(WorkOrder.SEQUENCE, WaitPolicy.ROW, 3),
                    GpuTarget.SM_80)
                .tiles()));
    all.add(
        new Gpu(
            "merged-ffn-f16-parts-sm80",
            GpuTarget.SM_80,
            PersistentFusedGemms.schedule(
                    new FfnWorkload(128, 64, 128, 72, DType.F16),
                    small,
                    new PersistentFusedGemms.Sharing(WorkOrder.ROWS, WaitPolicy.ROW, 3, 2),
                    GpuTarget.SM_80)
                .tiles()));
    // Large tiles: both products in the registers of one.
    all.add(
        new Gpu(
            "merged-ffn-bf16-sm90",
            hopper,
            PersistentFusedGemms.schedule(
                    new FfnWorkload(256, 64, 512, 256, DType.BF16),
                    HopperConfig.pairs(128, 256, 4, 2, 2).withCluster(1, 1),
                    new PersistentFusedGemms.Sharing(WorkOrder.SEQUENCE, WaitPolicy.ROW, 2))
                .tiles()));
    for (String model : List.of("digits-relu-128-64", "digits-gelu-64x4", "image-siren-64x4")) {
      for (Precision precision : List.of(Precision.F32, Precision.F16)) {
        CompiledProgram program = network(model, precision, hopper);
        all.add(of(model + "-" + precision.text(), program));
      }
    }
    // K of hidden layers permuted; a tile of registers for each thread.
    all.add(of("digits-relu-128-64-tf32", network("digits-relu-128-64", Precision.TF32, hopper)));
    Graph graph =
        Warpwright.load(Path.of("..", "models", "digits-relu-128-64", "model.onnx")).graph();
    all.add(of("digits-relu-128-64-f32-warps", first(graph, "shared chaining warps=")));
    all.add(of("digits-relu-128-64-f32-tiles", first(graph, "shared chaining rows=")));
    // Through the registers of warps; the second one's columns in parts.
    all.add(byWarps("digits-gelu-64x4", GpuTarget.SM_80));
    all.add(byWarps("digits-relu-128-64", GpuTarget.SM_80));
    return all;
  }

  /** The first kernel of a strategy in f32. */
  private static CompiledProgram first(Graph graph, String strategy) {
    return NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, Precision.F32).stream()
        .filter(each -> each.name().startsWith(strategy))
        .findFirst()
        .orElseThrow()
        .compile()
        .get()
        .orElseThrow();
  }

  private static Gpu byWarps(String model, GpuTarget target) {
    CompiledProgram program = network(model, Precision.F16, target);
    assertThat(program.kernels().getFirst().strategy()).isEqualTo("register chaining");
    return of(model + "-f16-warps-" + target.name().replace("_", ""), program);
  }

  private static Gpu of(String name, CompiledProgram program) {
    Set<Buffer> constants = new HashSet<>();
    program.network().constants().forEach(constant -> constants.add(constant.buffer()));
    PrimFunc tiles = program.kernels().getFirst().tileProgram();
    return new Gpu(name, (GpuTarget) program.target(), tiles, constants);
  }

  private static CompiledProgram network(String model, Precision precision, GpuTarget target) {
    try (CompiledModel compiled =
        Warpwright.load(Path.of("..", "models", model, "model.onnx"))
            .compile(new OfflineGpu(target), precision)) {
      assertThat(compiled.program(ROWS).kernels()).hasSize(1);
      return compiled.program(ROWS);
    }
  }

  @TestFactory
  List<DynamicTest> onGpus() {
    return gpu().stream().map(g -> DynamicTest.dynamicTest(g.name(), () -> compare(g))).toList();
  }

  private static void compare(Gpu gpu) throws IOException {
    Goldens steps = new Goldens();
    steps.tell("the schedule", gpu.tiles());
    PrimFunc tiles = PackConstants.apply(gpu.tiles(), gpu.constants()).func();
    if (tiles != gpu.tiles()) {
      steps.tell("PackConstants", tiles);
    }
    Kernel kernel = Lowering.lower(tiles, gpu.target(), steps);
    String cuda = CudaPrinter.print(kernel, gpu.target());
    steps.after("CudaPrinter, " + gpu.target().name(), () -> cuda);
    Goldens.compare("golden/" + gpu.name() + ".txt", steps.text());
  }

  /** One target a day: their texts are compared every day. */
  static Stream<String> targets() {
    List<String> all = List.of("sm_75", "sm_80", "sm_90a");
    return Stream.of(
        all.get(
            (int) (Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay()) % all.size())));
  }

  /** Those of a target at once: most of nvcc's time goes before it comes to the kernel. */
  @ParameterizedTest
  @MethodSource("targets")
  void compileWithoutSpills(String name) {
    var nvcc = CudaCompilers.nvcc();
    assumeTrue(nvcc.isPresent(), "nvcc is not installed: the text is as it was, not compiled");
    GpuTarget target = GpuTarget.find(name).orElseThrow();
    List<Kernel> kernels = new ArrayList<>();
    for (Gpu gpu : gpu()) {
      if (gpu.target().equals(target)) {
        PrimFunc tiles = PackConstants.apply(gpu.tiles(), gpu.constants()).func();
        kernels.add(Lowering.lower(tiles, target).withName("k_" + gpu.name().replace('-', '_')));
      }
    }
    String cuda = CudaPrinter.print(kernels, target);
    assertThat(nvcc.get().compile(new CompileRequest(cuda, name)).usage())
        .hasSameSizeAs(kernels)
        .allSatisfy(
            usage -> assertThat(usage.spillStores() + usage.spillLoads()).as("%s", usage).isZero());
  }

  @TestFactory
  List<DynamicTest> onCpus() {
    return List.of("digits-relu-128-64", "image-siren-64x4").stream()
        .map(model -> DynamicTest.dynamicTest(model, () -> compareHost(model)))
        .toList();
  }

  private static void compareHost(String model) throws IOException {
    CompiledProgram program =
        NetworkCompiler.compile(
            Warpwright.load(Path.of("..", "models", model, "model.onnx")).graph(),
            AVX512,
            Precision.F32,
            ROWS);
    Set<Buffer> constants = new HashSet<>();
    program.network().constants().forEach(constant -> constants.add(constant.buffer()));
    PrimFunc tiles = program.kernels().getFirst().tileProgram();
    Goldens steps = new Goldens();
    steps.tell("the schedule", tiles);
    Kernel kernel = HostLowering.lower(tiles, AVX512, constants, steps).kernel();
    assertThat(IrPrinter.text(kernel))
        .isEqualTo(IrPrinter.text(program.kernels().getFirst().kernel()));
    Goldens.compare("golden/" + model + "-avx512.txt", steps.text());
  }
}
