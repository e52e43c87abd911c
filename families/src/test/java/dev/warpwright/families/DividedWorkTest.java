package dev.warpwright.families;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.families.wgmma.HopperLimits;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** Products whose tiles are divided: right, with the same bits, whichever block is when. */
class DividedWorkTest {
  private static final Epilogue ALL = new Epilogue(0.5, 2, true, Activation.GELU_TANH);
  private static final BlockOrder ORDER = new BlockOrder.Grouped(2);

  static Stream<ArgumentSet> hopper() {
    HopperConfig one = HopperConfig.pairs(64, 64, 3, 1, 5).withCluster(1, 1);
    HopperConfig two = HopperConfig.pairs(128, 64, 2, 2, 3).withCluster(1, 1);
    HopperConfig few = new HopperConfig(16, 64, 64, 3, 1, 1, 1, new BlockOrder.Row(), 4, 2, true);
    return Stream.of(
        set(GemmWorkload.nt(100, 72, 512, DType.BF16), one, "parts:2"),
        set(GemmWorkload.nt(100, 136, 512, DType.F16), one, "parts:5"),
        set(of(130, 72, 328, ALL), two, "parts:3"),
        set(GemmWorkload.nt(13, 136, 712, DType.BF16), few, "parts:4"),
        set(of(17, 127, 200, Epilogue.NONE), few, "parts:2"),
        set(GemmWorkload.nt(1, 3, 8, DType.BF16), few, "parts:4"),
        set(GemmWorkload.nt(200, 200, 136, DType.BF16), one, "stream:0"),
        set(of(130, 136, 264, ALL), one, "stream:1"),
        set(GemmWorkload.nt(300, 72, 264, DType.BF16), two, "stream:2"),
        set(GemmWorkload.nt(9, 72, 840, DType.F16), few, "stream:0"),
        set(
            GemmWorkload.nt(200, 264, 136, DType.BF16),
            HopperConfig.pairs(64, 64, 3, 1, 6),
            "stream:1"),
        set(
            GemmWorkload.nt(136, 200, 328, DType.F16),
            HopperConfig.pairs(128, 64, 2, 2, 4).withCluster(1, 2),
            "parts:2"));
  }

  static Stream<ArgumentSet> mmaSync() {
    AmpereConfig small = new AmpereConfig(64, 64, 32, 3, 2, 2, 1, ORDER, false);
    return Stream.of(
        mma(GemmWorkload.nt(100, 72, 200, DType.F16), small, "parts:2", 0, GpuTarget.SM_80),
        mma(GemmWorkload.nt(67, 70, 131, DType.BF16), small, "parts:3", 0, GpuTarget.SM_80),
        mma(GemmWorkload.nt(1, 3, 17, DType.BF16), small, "parts:4", 0, GpuTarget.SM_80),
        mma(of(127, 130, 127, ALL), small, "parts:2", 3, GpuTarget.SM_80),
        mma(GemmWorkload.nt(130, 200, 136, DType.BF16), small, "stream:0", 5, GpuTarget.SM_80),
        mma(of(130, 200, 161, Epilogue.NONE), small, "stream:1", 5, GpuTarget.SM_75),
        mma(
            GemmWorkload.nt(70, 72, 52, DType.F32).with(Precision.TF32),
            new AmpereConfig(64, 64, 16, 3, 2, 2, 1, ORDER, false),
            "parts:3",
            0,
            GpuTarget.SM_80));
  }

  private static GemmWorkload of(long m, long n, long k, Epilogue epilogue) {
    return new GemmWorkload(m, n, k, DType.F16, DType.F16, GemmWorkload.Layout.NT, epilogue);
  }

  private static ArgumentSet set(GemmWorkload workload, HopperConfig config, String division) {
    return Arguments.argumentSet(
        workload + " " + config + " " + division,
        workload,
        config.withDivision(WorkDivision.parse(division)));
  }

  private static ArgumentSet mma(
      GemmWorkload workload, AmpereConfig config, String division, int blocks, GpuTarget target) {
    return Arguments.argumentSet(
        workload + " " + config + " " + division,
        workload,
        config.withDivision(WorkDivision.parse(division), blocks),
        target);
  }

  @ParameterizedTest
  @MethodSource
  void hopper(GemmWorkload workload, HopperConfig config) {
    Simulated.assertSame(HopperGemm.schedule(workload, config));
  }

  @ParameterizedTest
  @MethodSource
  void mmaSync(GemmWorkload workload, AmpereConfig config, GpuTarget target) {
    Simulated.assertSame(AmpereGemm.schedule(workload, config, target));
  }

  @Test
  void oneBlockATileIsNotDivided() {
    GemmWorkload workload = GemmWorkload.nt(100, 72, 512, DType.BF16);
    HopperConfig config =
        new HopperConfig(64, 64, 64, 3, 1, 1, 1, new BlockOrder.Row(), 0, 1, false)
            .withDivision(new WorkDivision.Parts(3));
    assertThat(HopperLimits.problem(workload, config)).contains("parts:3 needs a number of blocks");
    // Two may be the pair of a cluster.
    assertThat(HopperLimits.problem(workload, config.withDivision(new WorkDivision.Parts(2))))
        .isNull();
  }
}
