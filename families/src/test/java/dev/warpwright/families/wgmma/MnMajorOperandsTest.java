package dev.warpwright.families.wgmma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.Simulated;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** Operands that instructions take only if they are K-major, and that are MN-major in memory. */
class MnMajorOperandsTest {
  private static final BlockOrder ROW = new BlockOrder.Row();
  private static final Epilogue ALL = new Epilogue(0.5, 2, true, Activation.GELU_TANH);

  private static ArgumentSet set(GemmWorkload workload, HopperConfig config) {
    return argumentSet(workload + " " + config, workload, config);
  }

  /** tf32 of which one operand is MN-major: it goes through registers. */
  static Stream<ArgumentSet> held() {
    HopperConfig two = new HopperConfig(128, 48, 32, 3, 2, 1, 1, ROW, 0, 1, false).holding();
    HopperConfig swapped = new HopperConfig(48, 128, 32, 3, 2, 1, 1, ROW, 0, 1, true).holding();
    return Stream.of(
        set(tf32(200, 104, 132, Layout.TT), two),
        set(tf32(136, 88, 72, Layout.TT), two.withTileK(64).fromRegisters()),
        set(tf32(136, 77, 44, Layout.TT), two.withTileK(16)),
        set(
            tf32(200, 200, 136, Layout.TT),
            HopperConfig.pairs(64, 56, 3, 1, 2).withTileK(32).holding()),
        set(tf32(100, 200, 132, Layout.NN), swapped),
        set(tf32(77, 136, 204, Layout.NN), swapped.withDivision(new WorkDivision.Parts(2))),
        set(
            tf32(264, 136, 44, Layout.NN),
            new HopperConfig(256, 64, 32, 2, 1, 1, 1, ROW, 0, 1, true).holding()),
        set(
            tf32(200, 264, 72, Layout.NN),
            new HopperConfig(64, 192, 32, 3, 3, 2, 1, new BlockOrder.Grouped(2), 4, 1, true)
                .holding()),
        set(
            tf32(130, 200, 136, Layout.NN),
            new HopperConfig(56, 64, 64, 3, 1, 1, 2, ROW, 4, 1, true)
                .holding()
                .withDivision(new WorkDivision.Stream(0))),
        set(
            new GemmWorkload(100, 72, 64, Precision.TF32, DType.F32, Layout.NN, ALL),
            new HopperConfig(64, 64, 32, 3, 1, 1, 1, ROW, 0, 2, true).holding()),
        set(
            tf32(76, 72, 44, Layout.NN).times(Batch.of(3)),
            new HopperConfig(40, 64, 32, 3, 1, 1, 1, ROW, 4, 1, true).holding()),
        set(
            tf32(76, 72, 44, Layout.NN).times(new Batch(2, false, true)),
            new HopperConfig(40, 64, 32, 3, 1, 1, 1, ROW, 0, 1, true).holding()),
        set(tf32(132, 72, 44, Layout.TT).times(Batch.grouped(3, 2)), two),
        set(tf32(132, 72, 44, Layout.TT).times(new Batch(2, true, false)), two),
        set(new GemmWorkload(104, 72, 64, Precision.TF32, DType.F32, Layout.TT, ALL), two),
        set(new GemmWorkload(104, 72, 64, Precision.TF32, DType.BF16, Layout.TT, ALL), two),
        set(new GemmWorkload(72, 132, 64, Precision.TF32, DType.BF16, Layout.NN, ALL), swapped),
        // Of two MN-major operands threads transpose the other one.
        set(tf32(200, 104, 132, Layout.TN), two),
        set(tf32(136, 76, 44, Layout.TN), two.withTileK(64).fromRegisters()),
        set(tf32(100, 200, 132, Layout.TN), swapped),
        set(
            tf32(200, 200, 136, Layout.TN),
            new HopperConfig(64, 56, 32, 3, 1, 1, 1, ROW, 4, 1, false).holding()),
        set(
            tf32(264, 136, 72, Layout.TN),
            new HopperConfig(256, 64, 32, 2, 1, 1, 1, ROW, 0, 1, true).holding()),
        set(
            tf32(132, 200, 136, Layout.TN),
            new HopperConfig(56, 64, 64, 3, 1, 1, 1, ROW, 4, 1, true)
                .holding()
                .withDivision(new WorkDivision.Stream(0))),
        set(
            tf32(76, 72, 44, Layout.TN).times(Batch.of(3)),
            swapped.withDivision(new WorkDivision.Parts(2))));
  }

  /** The same transposed by the threads that copy it, and where both are MN-major. */
  static Stream<ArgumentSet> transposed() {
    HopperConfig two = new HopperConfig(128, 48, 32, 3, 2, 1, 1, ROW, 0, 1, false);
    HopperConfig swapped = new HopperConfig(48, 128, 32, 3, 2, 1, 1, ROW, 0, 1, true);
    return Stream.of(
        set(tf32(200, 104, 132, Layout.TT), two),
        set(tf32(136, 88, 72, Layout.TN), two.withTileK(64).fromRegisters()),
        set(tf32(136, 76, 44, Layout.TN), two.withTileK(16)),
        set(
            tf32(200, 200, 136, Layout.NN),
            HopperConfig.pairs(64, 56, 3, 1, 2).withTileK(32).withCluster(1, 1)),
        set(tf32(100, 200, 132, Layout.NN), swapped),
        set(tf32(76, 136, 203, Layout.TN), swapped.withDivision(new WorkDivision.Parts(2))),
        set(
            tf32(264, 136, 44, Layout.NN),
            new HopperConfig(256, 64, 32, 2, 1, 1, 1, ROW, 0, 1, true)),
        set(
            tf32(130, 200, 136, Layout.TN),
            new HopperConfig(64, 56, 64, 3, 1, 1, 1, ROW, 4, 1, false)
                .withDivision(new WorkDivision.Stream(0))),
        // Rows of both begin anywhere, those of A at multiples of 8 bytes.
        set(tf32(66, 75, 33, Layout.NN), two),
        set(tf32(66, 75, 44, Layout.TT), two),
        set(
            tf32(66, 77, 33, Layout.TN),
            new HopperConfig(64, 72, 32, 3, 1, 1, 1, ROW, 0, 2, false)),
        set(
            new GemmWorkload(100, 72, 64, Precision.TF32, DType.F32, Layout.NN, ALL),
            new HopperConfig(64, 64, 32, 3, 1, 1, 1, ROW, 0, 2, true)),
        set(
            tf32(76, 72, 44, Layout.TN).times(Batch.of(3)),
            new HopperConfig(64, 40, 32, 3, 1, 1, 1, ROW, 4, 1, false)),
        set(
            tf32(76, 72, 44, Layout.NN).times(new Batch(2, false, true)),
            new HopperConfig(40, 64, 32, 3, 1, 1, 1, ROW, 0, 1, true)),
        set(
            tf32(260, 132, 72, Layout.TN),
            new HopperConfig(256, 128, 64, 2, 2, 1, 1, ROW, 0, 1, false)),
        set(tf32(100, 72, 44, Layout.TN).with(new GemmWorkload.Leading(120, 80, 0)), two),
        set(tf32(132, 72, 44, Layout.TT).times(Batch.grouped(3, 2)), two));
  }

  /** Of bytes, whose rows are whole vectors, one or both. */
  static Stream<ArgumentSet> transposedBytes() {
    HopperConfig two = new HopperConfig(128, 48, 128, 3, 2, 1, 1, ROW, 0, 1, false);
    HopperConfig swapped = new HopperConfig(48, 128, 128, 3, 2, 1, 1, ROW, 0, 1, true);
    HopperConfig small = new HopperConfig(64, 32, 64, 3, 1, 1, 1, ROW, 0, 1, false);
    return Stream.of(
        set(GemmWorkload.of(144, 112, 272, DType.F8E4M3, Layout.TN), two),
        set(GemmWorkload.of(100, 144, 144, DType.F8E4M3, Layout.NN), swapped),
        set(GemmWorkload.of(80, 45, 208, DType.F8E5M2, Layout.TT), small),
        set(GemmWorkload.of(80, 48, 75, DType.I8, Layout.TN), small),
        set(
            GemmWorkload.of(272, 144, 272, DType.I8, Layout.TN),
            new HopperConfig(256, 128, 128, 2, 2, 1, 1, ROW, 0, 1, false)),
        set(GemmWorkload.of(77, 96, 272, DType.I8, Layout.NN).times(Batch.of(3)), small),
        set(
            GemmWorkload.of(77, 96, 272, DType.I8, Layout.NN)
                .with(new GemmWorkload.Leading(288, 112, 0)),
            small),
        set(
            new GemmWorkload(100, 80, 464, DType.F8E4M3, DType.F16, Layout.NN, ALL),
            HopperConfig.pairs(128, 48, 3, 2, 2).withTileK(128).withCluster(1, 1)));
  }

  @ParameterizedTest
  @MethodSource("transposedBytes")
  void bytesAreTransposedByThreadsThatCopy(GemmWorkload workload, HopperConfig config) {
    ScheduledGemm gemm = HopperGemm.schedule(workload, config);
    assertThat(gemm.kernel().toString()).contains("transpose.b8.x4", "wgmma");
    Simulated.assertSame(gemm);
  }

  @ParameterizedTest
  @MethodSource("transposed")
  void mnMajorOperandsAreTransposedByThreadsThatCopy(GemmWorkload workload, HopperConfig config) {
    ScheduledGemm gemm = HopperGemm.schedule(workload, config);
    assertThat(gemm.kernel().toString()).contains(".f32.tf32").doesNotContain(".tf32.ra");
    Simulated.assertSame(gemm);
  }

  private static GemmWorkload tf32(long m, long n, long k, Layout layout) {
    return GemmWorkload.of(m, n, k, DType.F32, layout).with(Precision.TF32);
  }

  @ParameterizedTest
  @MethodSource("held")
  void mnMajorOperandsGoThroughRegisters(GemmWorkload workload, HopperConfig config) {
    ScheduledGemm gemm = HopperGemm.schedule(workload, config);
    assertThat(gemm.kernel().toString()).contains(".f32.tf32.ra");
    Simulated.assertSame(gemm);
  }

  /** Words of an MN-major tile go to registers two at a time, and no two lanes meet in a bank. */
  @Test
  void gatheredWordsMeetInNoBank() {
    for (Layout layout : List.of(Layout.TT, Layout.NN)) {
      boolean swapped = layout == Layout.NN;
      ScheduledGemm gemm =
          HopperGemm.schedule(
              tf32(128, 128, 64, layout),
              new HopperConfig(128, 128, 32, 2, 2, 1, 1, ROW, 0, 1, swapped)
                  .holding()
                  .fromRegisters());
      KernelCounters counted =
          new GridInterpreter(gemm.kernel(), GridOptions.counting(1))
              .count(
                  Simulated.arguments(gemm, 1), new KernelCounters.Caches(64 << 10, 1 << 20, 16));
      assertThat(counted.sharedLoads().count()).isEqualTo(2 * 8 * 8);
      assertThat(counted.sharedLoads().lost()).isZero();
    }
  }
}
