package dev.warpwright.families.simt;

import static dev.warpwright.target.GpuTarget.SM_90A;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.Verification;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every candidate of the space has a kernel, and it computes the product. */
final class SimtSketchTest {
  private static final long SEED = Long.getLong("warpwright.seed", 1);
  private static final int CANDIDATES = 5;

  @ParameterizedTest
  @CsvSource({
    "SM_90A,F32,NN,70,90,50",
    "SM_80,F32,NT,33,130,68",
    "SM_75,F32,TN,64,64,64",
    "SM_90A,F32,NT,1,300,260",
    "SM_80,F32,TT,16,65,129",
    "SM_90A,F32,NT,3,127,260",
    "SM_75,F32,NT,17,129,131",
    "SM_80,F32,NT,20,30,300",
    "SM_90A,F64,NT,70,50,36",
    "SM_80,F64,NT,2,45,70",
    "SM_80,F64,TN,3,7,5"
  })
  void candidatesCompute(String name, DType dtype, Layout layout, int m, int n, int k) {
    GpuTarget target = GpuTarget.find(name.toLowerCase(java.util.Locale.ROOT)).orElseThrow();
    GemmWorkload workload = GemmWorkload.of(m, n, k, dtype, layout);
    Space space = GemmSpace.of(workload, target, 4);
    PrimFunc func = workload.func();
    Arguments expected = Arguments.random(func.params(), SEED);
    Interpreter.of(func, Options.CHECKED).run(expected);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int found = 0; found < CANDIDATES; ) {
      Candidate candidate = space.sample(random).candidate();
      if (candidate == null) {
        continue;
      }
      found++;
      Kernel kernel = candidate.kernel().get();
      Arguments arguments = Arguments.random(kernel.params(), SEED);
      arguments.get("C").poison();
      if (kernel.buffers().stream().anyMatch(buffer -> buffer.name().equals("counters"))) {
        arguments.get("counters").fill(0);
      }
      assertThat(new GridInterpreter(kernel, GridOptions.DEFAULT).check(arguments))
          .as("%s, seed %d", candidate.point(), SEED)
          .isEmpty();
      Verification v = Verification.compare(arguments.get("C"), expected.get("C"));
      assertThat(v.within(dtype == DType.F64 ? 1e-14 : 2e-6))
          .as("%s: %s, seed %d", candidate.point(), v, SEED)
          .isTrue();
    }
  }

  /** 28 rows of 4 lanes are 112, of which 109 are rows of the result; 34 tiles in 15 parts, 510. */
  @Test
  void shortSidesAndWavesAreFilled() {
    Space space =
        GemmSpace.of(GemmWorkload.of(109, 4322, 15896, DType.F32, Layout.NN), SM_90A, 132);
    String text =
        "sketch=simt rows=28 lanesM=2 warpsM=2 columns=4 warpsN=%d slices=1 tileK=16 ahead=no"
            + " serpentine=yes store=direct stages=4 minBlocks=1 parts=%d panel=1";
    assertThat(space.replay(Point.parse(text.formatted(2, 7))).candidate()).isNotNull();
    Candidate filled = space.replay(Point.parse(text.formatted(2, 15))).candidate();
    assertThat(filled).isNotNull();
    assertThat(filled.point().option("parts")).isEqualTo("15");
    // Rows of a long side fill tiles of usual sizes.
    Space tall = GemmSpace.of(GemmWorkload.of(9696, 105, 320, DType.F32, Layout.TT), SM_90A, 132);
    SplittableRandom random = new SplittableRandom(SEED);
    assertThat(Stream.generate(() -> tall.sample(random).point().option("rows")).limit(200))
        .doesNotContain("20", "28");
  }

  /** As the larger matrix lies, and both in neither order if none is far larger. */
  @ParameterizedTest
  @CsvSource({
    "TT, 4, 8192, true",
    "NN, 8192, 4, true",
    "NN, 4, 8192, false",
    "TT, 512, 512, false"
  })
  void tilesLieAsTheLargerMatrix(Layout layout, long m, long n, boolean alongK) {
    Space space = GemmSpace.of(GemmWorkload.of(m, n, 3072, DType.F32, layout), SM_90A, 132);
    SplittableRandom random = new SplittableRandom(SEED);
    assertThat(
            Stream.generate(() -> space.sample(random).point().option("alongK"))
                .limit(400)
                .anyMatch("yes"::equals))
        .isEqualTo(alongK);
    if (alongK && layout == Layout.TT) {
      // Measured on an H200: 27.1 us (docs/benchmarks, 2026-11-30, f32 of few rows).
      Point fast =
          Point.parse(
              "sketch=simt alongK=yes rows=2 lanesM=2 warpsM=1 columns=2 warpsN=2 slices=4"
                  + " tileK=64 ahead=yes serpentine=no stages=4 minBlocks=1 parts=1 panel=1");
      assertThat(space.replay(fast).candidate().features().predictedUs()).isBetween(24.0, 30.0);
      assertThat(TunedGemm.untuned(space).point().option("alongK")).isEqualTo("yes");
    }
  }

  /** Two kernels, measured on an H200 (docs/benchmarks, 2026-11-28, threads on odd shapes). */
  @ParameterizedTest
  @CsvSource({
    "380.7, rows=28 lanesM=2 warpsM=2 columns=4 warpsN=4 slices=1 tileK=16 ahead=no stages=6 parts=7",
    "409.7, rows=16 lanesM=2 warpsM=4 columns=8 warpsN=2 slices=1 tileK=8 ahead=no stages=4 parts=15"
  })
  void partsAreAddedByOneBlock(double measured, String tiles) {
    Space space =
        GemmSpace.of(GemmWorkload.of(109, 4322, 15896, DType.F32, Layout.NN), SM_90A, 132);
    String text = "sketch=simt " + tiles + " serpentine=yes store=direct minBlocks=1 panel=1";
    Candidate candidate = space.replay(Point.parse(text)).candidate();
    assertThat(candidate).as(text).isNotNull();
    assertThat(candidate.features().predictedUs()).isBetween(measured / 1.1, measured * 1.1);
  }
}
