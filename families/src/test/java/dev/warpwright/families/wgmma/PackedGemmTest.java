package dev.warpwright.families.wgmma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.Simulated;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

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
        set(tf32(200, 104, 132, Layout.NN), two),
        set(tf32(200, 104, 132, Layout.TT), two),
        set(tf32(136, 76, 44, Layout.TN), two.withTileK(64).fromRegisters()),
        set(tf32(200, 200, 136, Layout.TN), HopperConfig.pairs(64, 56, 3, 1, 2).withTileK(32)),
        set(tf32(76, 136, 204, Layout.TN), swapped.withDivision(new WorkDivision.Parts(2))),
        set(
            tf32(132, 200, 136, Layout.NN),
            new HopperConfig(64, 56, 64, 3, 1, 1, 1, ROW, 4, 1, false)
                .withDivision(new WorkDivision.Stream(0))),
        set(
            new GemmWorkload(100, 72, 64, Precision.TF32, DType.F32, Layout.NN, ALL),
            new HopperConfig(64, 64, 32, 3, 1, 1, 1, ROW, 0, 2, true)),
        set(tf32(100, 72, 44, Layout.TN).with(new GemmWorkload.Leading(120, 80, 0)), two),
        set(tf32(100, 72, 44, Layout.TT).with(new GemmWorkload.Leading(120, 80, 0)), two),
        set(GemmWorkload.of(144, 112, 272, DType.F8E4M3, Layout.TN), ofBytes),
        set(GemmWorkload.of(100, 144, 144, DType.F8E5M2, Layout.NN), swapped.withTileK(128)),
        set(GemmWorkload.of(80, 45, 208, DType.I8, Layout.TT), ofBytes),
        set(GemmWorkload.of(272, 144, 272, DType.I8, Layout.TN), ofBytes));
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
}
