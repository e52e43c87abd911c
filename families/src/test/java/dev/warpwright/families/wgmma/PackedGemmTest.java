package dev.warpwright.families.wgmma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.Simulated;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Space;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** MN-major operands that all blocks pack before they multiply. */
class PackedGemmTest {
  private static final BlockOrder ROW = new BlockOrder.Row();
  private static final Epilogue ALL = new Epilogue(0.5, 2, true, Activation.GELU_TANH);

  private static ArgumentSet set(GemmWorkload workload, HopperConfig config) {
    return argumentSet(workload + " " + config, workload, config);
  }

  private static GemmWorkload tf32(long m, long n, long k, Layout layout) {
    return GemmWorkload.of(m, n, k, DType.F32, layout).with(Precision.TF32);
  }

  static Stream<ArgumentSet> packed() {
    HopperConfig two = new HopperConfig(128, 48, 32, 3, 2, 1, 1, ROW, 4, 1, false);
    HopperConfig swapped = new HopperConfig(48, 128, 32, 3, 2, 1, 1, ROW, 0, 1, true);
    HopperConfig ofBytes = two.withTileK(128);
    return Stream.of(
        set(tf32(136, 56, 76, Layout.NN), two),
        set(tf32(136, 52, 44, Layout.TN), two.withTileK(64).fromRegisters()),
        set(tf32(132, 116, 72, Layout.TN), HopperConfig.pairs(64, 56, 3, 1, 2).withTileK(32)),
        set(tf32(52, 132, 140, Layout.TN), swapped.withDivision(new WorkDivision.Parts(2))),
        set(
            tf32(68, 116, 136, Layout.NN),
            new HopperConfig(64, 56, 64, 3, 1, 1, 1, ROW, 4, 1, false)
                .withDivision(new WorkDivision.Stream(0))),
        set(
            new GemmWorkload(100, 72, 64, Precision.TF32, DType.F32, Layout.NN, ALL),
            new HopperConfig(64, 64, 32, 3, 1, 1, 1, ROW, 0, 2, true)),
        set(tf32(100, 72, 44, Layout.TN).with(new GemmWorkload.Leading(120, 80, 0)), two),
        set(GemmWorkload.of(144, 64, 144, DType.F8E4M3, Layout.TN), ofBytes),
        set(GemmWorkload.of(100, 144, 144, DType.F8E5M2, Layout.NN), swapped.withTileK(128)),
        set(GemmWorkload.of(80, 45, 208, DType.I8, Layout.TT), ofBytes),
        set(GemmWorkload.of(144, 48, 272, DType.I8, Layout.TN), ofBytes),
        // Rows that begin anywhere.
        set(GemmWorkload.of(129, 56, 75, DType.F16, Layout.NT), two.withTileK(64)),
        set(GemmWorkload.of(70, 64, 200, DType.BF16, Layout.TN), swapped.withTileK(64)),
        set(GemmWorkload.of(72, 131, 67, DType.F16, Layout.NN), two.withTileK(64)),
        set(GemmWorkload.of(131, 66, 37, DType.BF16, Layout.TT), two.withTileK(64)),
        set(tf32(65, 67, 69, Layout.NT), two),
        set(tf32(65, 68, 72, Layout.NN).with(new GemmWorkload.Leading(74, 0, 0)), two),
        set(GemmWorkload.of(65, 48, 99, DType.I8, Layout.NT), ofBytes));
  }

  @ParameterizedTest
  @MethodSource("packed")
  void operandsArePackedByAllBlocks(GemmWorkload workload, HopperConfig config) {
    ScheduledGemm gemm = PackedGemm.schedule(workload, config);
    assertThat(gemm.kernel().toString())
        .contains("_global: ", "wgmma", "prologueCounters")
        .doesNotContain(".tf32.ra");
    Simulated.assertSame(gemm);
  }

  /** Points of the space, of shapes that fill no tile and no share. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void randomPointsOfRandomShapes(long number) {
    long seed = Long.getLong("seed", 20261127) + number;
    SplittableRandom random = new SplittableRandom(seed);
    Precision precision =
        List.of(Precision.TF32, Precision.INT8, Precision.E4M3).get(random.nextInt(3));
    int chunk = 16 / precision.operand().bytes();
    Layout layout = List.of(Layout.NN, Layout.TN, Layout.TT).get(random.nextInt(3));
    GemmWorkload workload =
        GemmWorkload.of(
                chunk * random.nextLong(1, 150 / chunk),
                chunk * random.nextLong(1, 150 / chunk),
                chunk * random.nextLong(1, 200 / chunk),
                precision.operand(),
                layout)
            .with(precision);
    // Few SMs: blocks have several shares, and several tiles.
    PackedSketch sketch = new PackedSketch(workload, GpuTarget.SM_90A, 4);
    Space space = new Space(List.of(sketch));
    Candidate candidate = null;
    while (candidate == null) {
      candidate = space.sample(random).candidate();
    }
    ScheduledGemm gemm = sketch.schedule(GemmSpace.decided(candidate.point()));
    Simulated.assertSame(gemm);
  }

  @Test
  void whatNeedsNoPackingOrCannotBePackedIsRefused() {
    HopperConfig config = new HopperConfig(64, 64, 32, 3, 1, 1, 1, ROW, 4, 1, false);
    for (GemmWorkload workload :
        List.of(
            tf32(64, 64, 64, Layout.NT),
            GemmWorkload.of(64, 64, 64, DType.BF16, Layout.NN),
            tf32(64, 64, 64, Layout.NN).times(Batch.of(2)),
            tf32(64, 66, 64, Layout.NN),
            GemmWorkload.of(64, 68, 64, DType.F16, Layout.NN).times(Batch.of(2)),
            tf32(64, 64, 66, Layout.NN),
            GemmWorkload.of(64, 64, 64, DType.F32, Layout.NN))) {
      assertThatThrownBy(() -> PackedGemm.schedule(workload, config))
          .as("%s", workload)
          .isInstanceOf(UserError.class);
      assertThat(PackedSketch.FAMILY.supports(workload, GpuTarget.SM_90A)).isFalse();
    }
    assertThat(PackedSketch.FAMILY.supports(tf32(64, 64, 64, Layout.NN), GpuTarget.SM_80))
        .isFalse();
  }

  /** A block that waits for too few shares reads what another one still writes. */
  @Test
  void waitingForTooFewSharesIsFound() {
    ScheduledGemm gemm =
        PackedGemm.schedule(
            tf32(128, 128, 64, Layout.TN),
            new HopperConfig(64, 64, 32, 3, 1, 1, 1, ROW, 4, 1, false));
    String text = IrPrinter.text(gemm.kernel());
    String hasty =
        text.replaceFirst("(load.acquire.u32\\(&prologueCounters\\[2\\]\\) < )\\d+u32", "$11u32");
    assertThat(hasty).isNotEqualTo(text);
    Kernel kernel = new IrParser(Intrinsics::find).kernel("hasty", hasty);
    ScheduledGemm wrong =
        new ScheduledGemm(gemm.func(), gemm.trace(), gemm.tiles(), kernel, gemm.table());
    GridOptions together =
        GridOptions.random(7)
            .withBlocks(Options.Order.SHUFFLED, 1000)
            .withWarps(GridOptions.WarpChoice.TURNS);
    assertThat(new GridInterpreter(gemm.kernel(), together).check(Simulated.arguments(gemm, 1)))
        .isEmpty();
    assertThat(new GridInterpreter(kernel, together).check(Simulated.arguments(wrong, 1)))
        .isNotEmpty();
  }
}
