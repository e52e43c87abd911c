package dev.warpwright.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.families.wgmma.HopperLimits;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import org.junit.jupiter.api.Test;

/** Configurations that do not fit are refused by one line, before a schedule is made. */
class ImpossibleConfigsTest {
  private static final GemmWorkload SQUARE = GemmWorkload.nt(4096, 4096, 4096, DType.BF16);
  private static final BlockOrder ORDER = new BlockOrder.Row();

  private static void refused(GemmWorkload workload, HopperConfig config, String why) {
    assertThat(HopperLimits.problem(workload, config)).contains(why).doesNotContain("\n");
    assertThatThrownBy(() -> HopperGemm.schedule(workload, config))
        .isInstanceOf(UserError.class)
        .hasMessageContaining(why);
  }

  @Test
  void forHopper() {
    HopperConfig good = HopperConfig.pairs(128, 256, 4, 2, 132);
    assertThat(HopperLimits.problem(SQUARE, good)).isNull();
    refused(SQUARE, HopperConfig.pairs(128, 256, 5, 2, 132), "bytes of shared memory");
    refused(SQUARE, HopperConfig.pairs(96, 256, 4, 2, 132), "no multiples of 64");
    refused(SQUARE, HopperConfig.pairs(128, 260, 4, 2, 132), "260 columns");
    refused(SQUARE, HopperConfig.pairs(256, 256, 2, 2, 132), "256 registers");
    refused(SQUARE, HopperConfig.pairs(128, 256, 4, 2, 131), "no multiple of a cluster");
    refused(
        SQUARE,
        new HopperConfig(128, 128, 64, 4, 2, 4, 4, ORDER, 128, 1, false),
        "a cluster of 16 blocks");
    refused(
        SQUARE,
        new HopperConfig(128, 128, 64, 4, 2, 2, 1, ORDER, 0, 1, false)
            .withDivision(new WorkDivision.Parts(2)),
        "share no copies");
    refused(
        GemmWorkload.nt(128, 128, 64, DType.BF16),
        new HopperConfig(128, 128, 64, 4, 2, 1, 1, ORDER, 0, 1, false)
            .withDivision(new WorkDivision.Parts(2)),
        "one step");
    refused(
        SQUARE.with(new GemmWorkload.Leading(4097, 0, 0)), good, "TMA copies need multiples of 16");
    refused(
        SQUARE.times(Batch.of(2).with(new Batch.Strides(4096 * 4096 + 4, 0, 0))),
        HopperConfig.pairs(128, 256, 4, 2, 132).withCluster(1, 1),
        "matrices 33554440 and 0 bytes apart: TMA copies need multiples of 16");
    refused(
        GemmWorkload.nt(4096, 4096, 4096, DType.I8),
        HopperConfig.pairs(128, 72, 4, 2, 132).withTileK(128),
        "72 columns of a wgmma in int8");
    refused(
        GemmWorkload.nt(4096, 4096, 4096, DType.F16).with(Precision.F16_ACCUMULATORS),
        HopperConfig.pairs(128, 256, 4, 2, 132).withDivision(new WorkDivision.Parts(4)),
        "accumulators in f16 are not added up");
    refused(
        GemmWorkload.of(4096, 4096, 4096, DType.F8E4M3, GemmWorkload.Layout.NN),
        good,
        "threads transpose are not shared by clusters");
    refused(
        GemmWorkload.of(4096, 4100, 4096, DType.F8E4M3, GemmWorkload.Layout.NN),
        good,
        "rows of 4096 and 4100 bytes: TMA copies need multiples of 16");
    refused(
        GemmWorkload.of(4096, 4096, 4096, DType.F32, GemmWorkload.Layout.TN)
            .with(Precision.TF32)
            .with(new GemmWorkload.Leading(0, 5001, 0)),
        good,
        "rows of 16384 and 20004 bytes: TMA copies need multiples of 16");
    refused(
        GemmWorkload.of(4096, 4096, 4096, DType.F32, GemmWorkload.Layout.NN).with(Precision.TF32),
        HopperConfig.pairs(128, 256, 4, 2, 132).withTileK(32).holding(),
        "has to be the one in registers");
    refused(
        GemmWorkload.of(4096, 4096, 4096, DType.F32, GemmWorkload.Layout.TN).with(Precision.TF32),
        HopperConfig.pairs(128, 256, 4, 2, 132).withTileK(32).holding(),
        "threads transpose are not shared by clusters");
    refused(
        SQUARE,
        new HopperConfig(128, 88, 64, 4, 2, 3, 1, ORDER, 0, 1, false),
        "cannot be shared by clusters");
    // 26 rows of 32 bytes: no part begins at a multiple of 128 bytes.
    refused(
        SQUARE,
        new HopperConfig(128, 104, 16, 4, 2, 4, 1, ORDER, 0, 1, false),
        "cannot be shared by clusters");
    refused(
        GemmWorkload.nt(128, 4096, 4096, DType.BF16), good, "a cluster of more tiles than there");
    refused(GemmWorkload.nt(4096, 4096, 4096, DType.F32), good, "not f32 in f32");
  }

  @Test
  void forMmaSync() {
    AmpereConfig good = new AmpereConfig(128, 128, 32, 3, 2, 2, 2, ORDER, false);
    assertThat(AmpereGemm.problem(SQUARE, good, GpuTarget.SM_80)).isNull();
    assertThat(AmpereGemm.problem(SQUARE, good, GpuTarget.SM_75)).contains("does not exist");
    assertThat(
            AmpereGemm.problem(
                SQUARE, new AmpereConfig(128, 128, 64, 5, 2, 2, 2, ORDER, false), GpuTarget.SM_86))
        .contains("bytes of shared memory");
    assertThat(
            AmpereGemm.problem(
                SQUARE, new AmpereConfig(72, 128, 32, 3, 2, 2, 2, ORDER, false), GpuTarget.SM_80))
        .contains("72 rows over 2 warps");
    assertThatThrownBy(
            () ->
                AmpereGemm.schedule(
                    SQUARE,
                    new AmpereConfig(256, 256, 32, 3, 2, 2, 1, ORDER, false),
                    GpuTarget.SM_80))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("664 registers");
  }

  /** Threads that share rows of 96 out unevenly spilled 1136 bytes, or took twice as long. */
  @Test
  void forMmaSyncWithElementsOneByOne() {
    GemmWorkload odd = GemmWorkload.of(16, 17127, 2024, DType.F16, GemmWorkload.Layout.NN);
    AmpereConfig uneven = new AmpereConfig(32, 96, 64, 3, 2, 2, 2, ORDER, false);
    assertThat(AmpereGemm.problem(odd, uneven, GpuTarget.SM_90A)).contains("one by one");
    AmpereConfig even = new AmpereConfig(32, 64, 64, 3, 2, 2, 2, ORDER, false);
    assertThat(AmpereGemm.problem(odd, even, GpuTarget.SM_90A)).isNull();
    // Rows of multiples of 4 bytes are copied asynchronously.
    GemmWorkload pairs = GemmWorkload.of(16, 17126, 2024, DType.F16, GemmWorkload.Layout.NN);
    assertThat(AmpereGemm.problem(pairs, uneven, GpuTarget.SM_90A)).isNull();
  }
}
