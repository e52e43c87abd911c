package dev.warpwright.families.wgmma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.Space;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class HopperSketchTest {
  @ParameterizedTest
  @CsvSource({
    "4096, 4096, 4096",
    "1, 14336, 4096",
    "16, 4096, 14336",
    "968, 1376, 2616",
    "127, 129, 136",
    "512, 512, 512",
    "1, 1, 8"
  })
  void randomPointsBecomeKernels(long m, long n, long k) {
    randomPointsBecomeKernels(GemmWorkload.nt(m, n, k, DType.BF16), GpuTarget.SM_90A);
  }

  @ParameterizedTest
  @CsvSource({"wgmma", "mma"})
  void elementsComeOneByOneWherePointsDoNotSayIt(String family) {
    GemmWorkload odd = GemmWorkload.nt(70, 72, 131, DType.F16);
    assertThat(kernel(odd, "sketch=" + family)).doesNotContain("ld.global.around");
    assertThat(kernel(odd, "sketch=" + family + " copy=elements"))
        .isEqualTo(kernel(odd, "sketch=" + family));
    assertThat(kernel(odd, "sketch=" + family + " copy=shifted")).contains("ld.global.around");
    // Rows of multiples of 4 bytes are copied past registers, whatever a point says.
    GemmWorkload even = GemmWorkload.nt(70, 72, 134, DType.F16);
    assertThat(kernel(even, "sketch=" + family + " copy=shifted"))
        .contains("cp.async.4")
        .isEqualTo(kernel(even, "sketch=" + family));
  }

  private static String kernel(GemmWorkload workload, String point) {
    return IrPrinter.text(
        GemmSpace.schedule(workload, GpuTarget.SM_90A, 132, Point.parse(point)).kernel());
  }

  @ParameterizedTest
  @CsvSource({
    "127, 129, 131, NT, sm_90a",
    "4095, 4097, 4099, NT, sm_90a",
    "128, 136, 64, NN, sm_90a",
    "128, 135, 64, NN, sm_90a",
    "100, 50, 70, TT, sm_90a",
    "1024, 1024, 1024, NT, sm_80",
    "1, 1, 1, NT, sm_75",
    "100, 50, 70, TN, sm_75",
    "127, 129, 131, TN, sm_90a"
  })
  void otherLayoutsAlignmentsAndTargets(
      long m, long n, long k, GemmWorkload.Layout layout, String target) {
    randomPointsBecomeKernels(
        new GemmWorkload(m, n, k, DType.F16, DType.F16, layout, Epilogue.NONE),
        GpuTarget.find(target).orElseThrow());
  }

  @ParameterizedTest
  @CsvSource({
    "1, 14336, 4096, NN, BF16",
    "1, 14336, 4096, TT, F16",
    "16, 14336, 4096, TN, BF16",
    "64, 14336, 4096, TT, BF16",
    "1024, 1024, 1024, TN, F16",
    "16, 14336, 4096, NT, F8E4M3",
    "4096, 4096, 4096, NT, F8E5M2"
  })
  void layoutsAndTypesOfWarpgroups(
      long m, long n, long k, GemmWorkload.Layout layout, DType operands) {
    randomPointsBecomeKernels(GemmWorkload.of(m, n, k, operands, layout), GpuTarget.SM_90A);
  }

  @ParameterizedTest
  @CsvSource({
    "4096, 4096, 4096, NT, sm_90a",
    "64, 14336, 4096, NN, sm_90a",
    "13, 264, 4096, TT, sm_90a",
    "127, 129, 131, NT, sm_90a",
    "1024, 1024, 1024, NN, sm_75"
  })
  void sumsInF16(long m, long n, long k, GemmWorkload.Layout layout, String target) {
    randomPointsBecomeKernels(
        GemmWorkload.of(m, n, k, DType.F16, layout).with(Precision.F16_ACCUMULATORS),
        GpuTarget.find(target).orElseThrow());
  }

  @ParameterizedTest
  @CsvSource({
    "4096, 4096, 4096, sm_90a",
    "16, 14336, 4096, sm_90a",
    "256, 4096, 14336, sm_90a",
    "127, 129, 131, sm_90a",
    "1024, 1024, 1024, sm_80"
  })
  void bytes(long m, long n, long k, String target) {
    randomPointsBecomeKernels(
        GemmWorkload.nt(m, n, k, DType.I8), GpuTarget.find(target).orElseThrow());
  }

  @Test
  void halfSumsHaveLargerTiles() {
    GemmWorkload product = GemmWorkload.nt(4096, 4096, 4096, DType.F16);
    assertThat(largestTile(product)).isLessThan(256 * 256);
    assertThat(largestTile(product.with(Precision.F16_ACCUMULATORS))).isEqualTo(256 * 256);
  }

  private static long largestTile(GemmWorkload product) {
    Space space = GemmSpace.of(product, GpuTarget.SM_90A, 132);
    SplittableRandom random = new SplittableRandom(5);
    long largest = 0;
    for (int i = 0; i < 4000; i++) {
      Candidate candidate = space.sample(random).candidate();
      if (candidate != null) {
        Point point = candidate.point();
        largest =
            Math.max(
                largest,
                Long.parseLong(point.option("tileM")) * Long.parseLong(point.option("tileN")));
      }
    }
    return largest;
  }

  @Test
  void untunedChoicesCompileWithoutSpills() {
    CudaCompiler compiler = CudaCompilers.nvcc().<CudaCompiler>map(c -> c).orElse(null);
    assumeTrue(compiler != null, "nvcc is not installed");
    Map<String, Candidate> choices = new LinkedHashMap<>();
    List<Kernel> kernels = new ArrayList<>();
    for (GemmWorkload workload :
        List.of(
            GemmWorkload.nt(968, 1376, 2616, DType.F8E4M3),
            GemmWorkload.nt(127, 129, 131, DType.F8E4M3),
            GemmWorkload.nt(4095, 4097, 4099, DType.F8E5M2),
            GemmWorkload.nt(127, 129, 131, DType.BF16),
            GemmWorkload.nt(4095, 4097, 4099, DType.BF16),
            GemmWorkload.nt(1000, 2000, 3000, DType.BF16),
            GemmWorkload.of(1001, 2000, 3000, DType.F32, Layout.NN).with(Precision.TF32),
            GemmWorkload.of(3000, 200, 5000, DType.F32, Layout.TT).with(Precision.TF32))) {
      Candidate untuned = TunedGemm.untuned(GemmSpace.of(workload, GpuTarget.SM_90A, 132));
      String name = "m" + workload.m() + workload.operands().text();
      choices.put(name, untuned);
      kernels.add(BoundKernel.of(untuned.kernel().get(), untuned.values()).kernel().withName(name));
    }
    String source = CudaPrinter.print(kernels, GpuTarget.SM_90A);
    Cubin cubin = compiler.compile(new CompileRequest(source, GpuTarget.SM_90A.name()));
    choices.forEach(
        (name, untuned) -> {
          ResourceUsage usage = cubin.usage(name).orElseThrow();
          assertThat(usage.spillStores() + usage.spillLoads())
              .as("%s %s", name, untuned.point().text())
              .isZero();
        });
  }

  @Test
  void roundedSingles() {
    randomPointsBecomeKernels(
        GemmWorkload.nt(1000, 2000, 3000, DType.F32).with(Precision.TF32), GpuTarget.SM_90A);
  }

  /** Both instructions are tried, and operands as they are and packed. */
  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"NN", "TT"})
  void roundedSinglesOfWhichOneOperandIsMnMajor(Layout layout) {
    GemmWorkload workload =
        GemmWorkload.of(1000, 2000, 3000, DType.F32, layout).with(Precision.TF32);
    Space space = GemmSpace.of(workload, GpuTarget.SM_90A, 132);
    Set<String> sketches = new TreeSet<>();
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 200; i++) {
      sketches.add(String.valueOf(space.sample(random).point().option(Space.SKETCH)));
    }
    assertThat(sketches).containsExactly("mma", "packed", "wgmma");
    assertThat(TunedGemm.untuned(space).point().option(Space.SKETCH)).isEqualTo("wgmma");
    randomPointsBecomeKernels(workload, GpuTarget.SM_90A);
  }

  @ParameterizedTest
  @CsvSource({"64, 512, 512, 12, sm_90a", "100, 50, 64, 3, sm_90a", "33, 65, 127, 7, sm_90a"})
  void batches(long m, long n, long k, long count, String target) {
    randomPointsBecomeKernels(
        GemmWorkload.nt(m, n, k, DType.BF16).times(Batch.of(count)),
        GpuTarget.find(target).orElseThrow());
  }

  private static void randomPointsBecomeKernels(GemmWorkload workload, GpuTarget target) {
    Space space = GemmSpace.of(workload, target, 132);
    long seed = Long.getLong("warpwright.seed", 1);
    SplittableRandom random = new SplittableRandom(seed);
    int built = 0;
    for (int i = 0; i < 200 && built < 3; i++) {
      Space.Drawn drawn = space.sample(random);
      Candidate candidate = drawn.candidate();
      if (candidate == null) {
        continue;
      }
      assertThat(space.fits(Point.parse(drawn.point().text()))).isTrue();
      try {
        Kernel kernel = candidate.kernel().get();
        Verifier.require(kernel);
        built++;
      } catch (Rejected rejected) {
        assertThat(rejected.getMessage()).as("seed %d, %s", seed, drawn.point()).isNotBlank();
      }
    }
    assertThat(built).as("seed %d", seed).isPositive();
  }
}
