package dev.warpwright.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.families.gemv.StreamedConfig;
import dev.warpwright.families.gemv.StreamedGemm;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.simt.SimtConfig;
import dev.warpwright.families.simt.SimtGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** What the families make for large shapes compiles without spills and without remarks of ptxas. */
class CompiledFamiliesTest {
  /**
   * Most of nvcc's time goes before it comes to the kernel; a file that takes minutes tells late.
   */
  private static final int KERNELS_A_FILE = 12;

  private static final BlockOrder ORDER = new BlockOrder.Grouped(8);

  static Stream<ArgumentSet> kernels() {
    GemmWorkload square = GemmWorkload.nt(4096, 4096, 4096, DType.BF16);
    return Stream.of(
        set("square", HopperGemm.schedule(square, HopperConfig.pairs(128, 256, 4, 2, 132))),
        set(
            "three consumers",
            HopperGemm.schedule(square, HopperConfig.pairs(192, 192, 3, 3, 132))),
        set(
            "along N, gelu",
            HopperGemm.schedule(
                new GemmWorkload(
                    4096,
                    4096,
                    4096,
                    DType.F16,
                    DType.F16,
                    Layout.NN,
                    new Epilogue(1, 0, true, Activation.GELU)),
                HopperConfig.pairs(128, 128, 5, 2, 132))),
        set(
            "few rows",
            HopperGemm.schedule(
                GemmWorkload.nt(16, 14336, 4096, DType.BF16),
                new HopperConfig(16, 64, 128, 5, 1, 1, 1, ORDER, 0, 2, true))),
        set(
            "along M and N",
            HopperGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.BF16, Layout.TN),
                HopperConfig.pairs(128, 256, 4, 2, 132))),
        set(
            "along M, a cluster of four",
            HopperGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.F16, Layout.TT),
                new HopperConfig(128, 256, 64, 4, 2, 2, 2, ORDER, 128, 1, false))),
        set(
            "few rows, along N",
            HopperGemm.schedule(
                GemmWorkload.of(16, 14336, 4096, DType.BF16, Layout.NN),
                new HopperConfig(16, 128, 64, 5, 2, 1, 1, ORDER, 0, 2, true))),
        set(
            "tf32",
            HopperGemm.schedule(
                GemmWorkload.nt(4096, 4096, 4096, DType.F32).with(Precision.TF32),
                HopperConfig.pairs(128, 256, 4, 2, 132).withTileK(32))),
        set(
            "tf32, A through registers",
            HopperGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.F32, Layout.TT).with(Precision.TF32),
                HopperConfig.pairs(128, 256, 4, 2, 132).withTileK(32).holding())),
        set(
            "tf32, B through registers",
            HopperGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.F32, Layout.NN).with(Precision.TF32),
                new HopperConfig(160, 192, 32, 4, 3, 1, 1, ORDER, 132, 1, true)
                    .holding()
                    .withDivision(new WorkDivision.Stream(0)))),
        set(
            "tf32, both transposed",
            HopperGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.F32, Layout.TN).with(Precision.TF32),
                new HopperConfig(128, 256, 32, 4, 2, 1, 1, ORDER, 132, 1, false))),
        set(
            "tf32, A through registers, B transposed",
            HopperGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.F32, Layout.TN).with(Precision.TF32),
                new HopperConfig(128, 256, 32, 4, 2, 1, 1, ORDER, 132, 1, false).holding())),
        set(
            "tf32, B through registers, A transposed",
            HopperGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.F32, Layout.TN).with(Precision.TF32),
                new HopperConfig(128, 128, 32, 4, 2, 1, 1, ORDER, 132, 1, true).holding())),
        set(
            "tf32, transposed in few registers, rows that begin anywhere",
            HopperGemm.schedule(
                GemmWorkload.of(4097, 4099, 4095, DType.F32, Layout.TN).with(Precision.TF32),
                new HopperConfig(192, 160, 32, 4, 3, 1, 1, ORDER, 0, 1, false))),
        set(
            "tf32, both transposed, ragged in every direction",
            HopperGemm.schedule(
                GemmWorkload.of(4100, 4100, 4095, DType.F32, Layout.TN).with(Precision.TF32),
                new HopperConfig(128, 256, 32, 4, 2, 1, 1, ORDER, 132, 1, false))),
        set(
            "tf32, transposed in few registers, rows of pairs",
            HopperGemm.schedule(
                GemmWorkload.of(4098, 4102, 4095, DType.F32, Layout.TN).with(Precision.TF32),
                new HopperConfig(192, 160, 32, 4, 3, 1, 1, ORDER, 0, 1, false))),
        set(
            "8-bit floats, ragged in every direction, both transposed",
            HopperGemm.schedule(
                GemmWorkload.of(4112, 4112, 4095, DType.F8E4M3, Layout.TN),
                new HopperConfig(128, 256, 128, 4, 2, 1, 1, ORDER, 132, 1, false))),
        set(
            "8-bit floats, B transposed",
            HopperGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.F8E4M3, Layout.NN),
                new HopperConfig(128, 256, 128, 4, 2, 1, 1, ORDER, 132, 1, false))),
        set(
            "bytes, both transposed",
            HopperGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.I8, Layout.TN),
                new HopperConfig(256, 128, 128, 4, 2, 1, 1, ORDER, 132, 1, false))),
        set(
            "8-bit floats",
            HopperGemm.schedule(
                GemmWorkload.nt(4096, 4096, 4096, DType.F8E4M3),
                HopperConfig.pairs(128, 256, 4, 2, 132).withTileK(128))),
        set(
            "accumulators in f16",
            HopperGemm.schedule(
                GemmWorkload.nt(4096, 4096, 4096, DType.F16).with(Precision.F16_ACCUMULATORS),
                HopperConfig.pairs(128, 256, 4, 2, 132))),
        set(
            "accumulators in f16 by mma.sync",
            AmpereGemm.schedule(
                GemmWorkload.nt(4096, 4096, 4096, DType.F16).with(Precision.F16_ACCUMULATORS),
                new AmpereConfig(128, 128, 64, 3, 2, 2, 2, ORDER, false),
                GpuTarget.SM_90A)),
        set(
            "bytes",
            HopperGemm.schedule(
                GemmWorkload.nt(4096, 4096, 4096, DType.I8),
                HopperConfig.pairs(128, 256, 4, 2, 132).withTileK(128))),
        set(
            "threads copy, registers store",
            HopperGemm.schedule(
                GemmWorkload.nt(968, 1376, 2618, DType.BF16),
                new HopperConfig(128, 88, 64, 7, 2, 1, 1, ORDER, 0, 1, false).fromRegisters())),
        set(
            "clusters without a table",
            HopperGemm.schedule(
                GemmWorkload.nt(968, 1376, 2616, DType.BF16),
                new HopperConfig(128, 88, 64, 7, 2, 1, 4, ORDER, 0, 1, false).fromRegisters())),
        set(
            "two blocks a tile",
            HopperGemm.schedule(
                GemmWorkload.nt(968, 1376, 2616, DType.BF16),
                new HopperConfig(128, 176, 64, 3, 2, 1, 1, ORDER, 0, 1, false)
                    .withDivision(new WorkDivision.Parts(2)))),
        // Sums of other parts beside 80 of a thread's own, of 128 registers; and beside 200 of 232.
        set(
            "equal shares, two blocks an SM, threads copy",
            HopperGemm.schedule(
                GemmWorkload.of(313, 576, 18672, DType.F16, Layout.TN),
                new HopperConfig(64, 160, 64, 3, 1, 1, 1, ORDER, 264, 2, false)
                    .withDivision(new WorkDivision.Stream(0)))),
        set(
            "four blocks a tile of 256 by 200, threads copy",
            HopperGemm.schedule(
                GemmWorkload.nt(768, 2200, 9052, DType.F16),
                new HopperConfig(256, 200, 64, 3, 2, 1, 1, ORDER, 132, 1, false)
                    .fromRegisters()
                    .withDivision(new WorkDivision.Parts(4)))),
        set(
            "mma.sync",
            AmpereGemm.schedule(
                square,
                new AmpereConfig(128, 128, 64, 3, 2, 2, 2, ORDER, false),
                GpuTarget.SM_90A)),
        set(
            "tf32 across K by mma.sync",
            AmpereGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.F32, Layout.TN).with(Precision.TF32),
                new AmpereConfig(128, 256, 32, 2, 2, 4, 1, ORDER, false),
                GpuTarget.SM_90A)),
        set(
            "bytes across K by mma.sync",
            AmpereGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.I8, Layout.NN),
                new AmpereConfig(256, 128, 128, 2, 2, 4, 1, ORDER, false),
                GpuTarget.SM_90A)),
        set(
            "8-bit floats across K by mma.sync",
            AmpereGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.F8E4M3, Layout.NN),
                new AmpereConfig(128, 64, 128, 4, 1, 4, 2, ORDER, false),
                GpuTarget.SM_90A)),
        set(
            "parts",
            HopperGemm.schedule(
                GemmWorkload.nt(256, 4096, 14336, DType.BF16),
                HopperConfig.pairs(128, 256, 4, 2, 132).withDivision(new WorkDivision.Parts(4)))),
        set(
            "stream",
            HopperGemm.schedule(
                GemmWorkload.nt(1024, 14336, 4096, DType.BF16),
                HopperConfig.pairs(128, 256, 4, 2, 132).withDivision(new WorkDivision.Stream(1)))),
        set(
            "batch",
            HopperGemm.schedule(
                GemmWorkload.nt(512, 512, 512, DType.BF16).times(Batch.of(16)),
                HopperConfig.pairs(128, 128, 5, 2, 132).withCluster(1, 1))),
        set(
            "grouped",
            HopperGemm.schedule(
                GemmWorkload.nt(128, 4096, 7168, DType.BF16).times(Batch.grouped(32, 8)),
                HopperConfig.pairs(128, 256, 4, 2, 132).withCluster(1, 1))),
        set(
            "mma.sync, parts",
            AmpereGemm.schedule(
                GemmWorkload.nt(256, 4096, 14336, DType.BF16),
                new AmpereConfig(128, 128, 64, 3, 2, 2, 2, ORDER, false)
                    .withDivision(new WorkDivision.Parts(4), 0),
                GpuTarget.SM_90A)),
        set(
            "mma.sync, bytes",
            AmpereGemm.schedule(
                GemmWorkload.nt(4096, 4096, 4096, DType.I8),
                new AmpereConfig(128, 128, 64, 4, 2, 2, 2, ORDER, false),
                GpuTarget.SM_90A)),
        set(
            "threads",
            SimtGemm.schedule(
                GemmWorkload.of(4096, 4096, 4096, DType.F32, Layout.NN),
                new SimtConfig(128, 128, 16, 64, 64, 4, 1, 2, true, true, false, 2),
                GpuTarget.SM_90A)),
        set(
            "threads, asynchronous",
            SimtGemm.schedule(
                GemmWorkload.nt(4096, 4096, 4096, DType.F32),
                new SimtConfig(128, 256, 16, 32, 128, 4, 1, 4, true, false, false, 1),
                GpuTarget.SM_90A)),
        set(
            "threads, one row",
            SimtGemm.schedule(
                GemmWorkload.nt(1, 14336, 4096, DType.F32),
                new SimtConfig(1, 128, 64, 1, 128, 1, 4, 3, true, false, false, 1),
                GpuTarget.SM_90A)),
        set(
            "threads, two parts of each step",
            SimtGemm.schedule(
                GemmWorkload.nt(1000, 2000, 3000, DType.F32),
                new SimtConfig(128, 128, 16, 32, 128, 2, 2, 2, false, true, false, 1),
                GpuTarget.SM_90A)),
        set(
            "threads, along K",
            SimtGemm.schedule(
                GemmWorkload.nt(256, 14336, 4096, DType.F32),
                new SimtConfig(256, 112, 8, 64, 56, 4, 1, 3, false, true, true, 1),
                GpuTarget.SM_90A)),
        set(
            "threads, a streamed row",
            StreamedGemm.schedule(
                GemmWorkload.nt(1, 14336, 4096, DType.F32),
                new StreamedConfig(2, 4, 32, 1, 8, 3),
                GpuTarget.SM_90A)),
        set(
            "threads, f64",
            SimtGemm.schedule(
                GemmWorkload.nt(2048, 2048, 2048, DType.F64),
                new SimtConfig(128, 128, 8, 32, 64, 4, 1, 2, true, true, false, 1),
                GpuTarget.SM_90A)),
        set(
            "mma.sync, odd",
            AmpereGemm.schedule(
                GemmWorkload.nt(127, 129, 131, DType.BF16),
                new AmpereConfig(64, 64, 64, 3, 2, 2, 1, ORDER, false),
                GpuTarget.SM_90A)));
  }

  private static ArgumentSet set(String name, ScheduledGemm gemm) {
    return org.junit.jupiter.params.provider.Arguments.argumentSet(name, gemm.kernel());
  }

  /** Half of them a day, the other half the next. */
  private static Stream<List<Kernel>> files() {
    List<Kernel> all =
        kernels()
            .map(set -> ((Kernel) set.get()[0]).withName(set.getName().replaceAll("\\W+", "_")))
            .toList();
    assertThat(all).hasSizeGreaterThan(30);
    List<List<Kernel>> files = new ArrayList<>();
    for (int first = 0; first < all.size(); first += KERNELS_A_FILE) {
      files.add(all.subList(first, Math.min(all.size(), first + KERNELS_A_FILE)));
    }
    long day = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());
    return IntStream.range(0, files.size()).filter(i -> (i + day) % 2 == 0).mapToObj(files::get);
  }

  @ParameterizedTest
  @MethodSource("files")
  void compileWithoutSpills(List<Kernel> kernels) {
    CudaCompiler compiler = CudaCompilers.nvcc().<CudaCompiler>map(c -> c).orElse(null);
    assumeTrue(compiler != null, "nvcc is not installed");
    String source = CudaPrinter.print(kernels, GpuTarget.SM_90A);
    Cubin cubin = compiler.compile(new CompileRequest(source, GpuTarget.SM_90A.name()));
    for (Kernel kernel : kernels) {
      ResourceUsage usage = cubin.usage(CudaPrinter.functionName(kernel)).orElseThrow();
      assertThat(usage.spillStores() + usage.spillLoads() + usage.localBytes())
          .as(kernel.name())
          .isZero();
    }
    assertThat(cubin.log()).doesNotContain("C75").doesNotContain("setmaxnreg ignored");
  }
}
