package dev.warpwright.families.mma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.Simulated;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** Schedules for mma.sync: what they make computes what they were made of, without findings. */
class AmpereGemmTest {
  private static final Epilogue ALL = new Epilogue(0.5, 2, true, Activation.GELU);
  private static final BlockOrder ORDER = new BlockOrder.Grouped(2);

  static Stream<ArgumentSet> cases() {
    AmpereConfig small = new AmpereConfig(64, 64, 32, 3, 2, 2, 1, ORDER, false);
    AmpereConfig words = new AmpereConfig(64, 64, 16, 3, 2, 2, 1, ORDER, false);
    AmpereConfig bytes = new AmpereConfig(64, 64, 64, 3, 2, 2, 1, ORDER, false);
    return Stream.of(
        set(GemmWorkload.nt(128, 128, 128, DType.BF16), small, GpuTarget.SM_80),
        set(GemmWorkload.nt(100, 72, 40, DType.F16), small, GpuTarget.SM_80),
        set(GemmWorkload.nt(67, 70, 50, DType.F16), small, GpuTarget.SM_80),
        set(GemmWorkload.nt(67, 65, 101, DType.BF16), small, GpuTarget.SM_80),
        set(GemmWorkload.nt(1, 1, 1, DType.BF16), small, GpuTarget.SM_80),
        set(
            GemmWorkload.nt(100, 130, 200, DType.BF16),
            new AmpereConfig(32, 96, 64, 2, 1, 2, 1, ORDER, false),
            GpuTarget.SM_80),
        set(GemmWorkload.nt(100, 72, 136, DType.F16), small, GpuTarget.SM_75),
        set(GemmWorkload.nt(65, 65, 65, DType.F16), small, GpuTarget.SM_75),
        set(
            GemmWorkload.nt(70, 72, 52, DType.F32).with(Precision.TF32),
            new AmpereConfig(64, 64, 16, 3, 2, 2, 1, ORDER, false),
            GpuTarget.SM_80),
        set(
            GemmWorkload.nt(70, 72, 192, DType.I8),
            new AmpereConfig(64, 64, 64, 3, 2, 2, 1, ORDER, false),
            GpuTarget.SM_80),
        set(
            GemmWorkload.nt(70, 72, 136, DType.F16).with(Precision.F16_ACCUMULATORS),
            small,
            GpuTarget.SM_80),
        set(
            of(70, 131, 77, Layout.NN, ALL).with(Precision.F16_ACCUMULATORS),
            small,
            GpuTarget.SM_75),
        set(
            GemmWorkload.nt(33, 65, 77, DType.I8),
            new AmpereConfig(32, 64, 64, 2, 1, 2, 1, ORDER, false),
            GpuTarget.SM_80),
        set(GemmWorkload.nt(67, 65, 101, DType.BF16), small.withVectors(), GpuTarget.SM_80),
        set(GemmWorkload.nt(1, 3, 1, DType.F16), small.withVectors(), GpuTarget.SM_75),
        set(
            GemmWorkload.nt(33, 65, 77, DType.I8),
            new AmpereConfig(32, 64, 64, 2, 1, 2, 1, ORDER, false).withVectors(),
            GpuTarget.SM_80),
        set(of(67, 101, 77, Layout.TN, Epilogue.NONE), small.withVectors(), GpuTarget.SM_80),
        set(
            of(67, 65, 101, Layout.NN, ALL).times(new Batch(3, true, false)),
            small.withVectors(),
            GpuTarget.SM_80),
        set(
            GemmWorkload.nt(50, 70, 80, DType.F8E4M3),
            new AmpereConfig(64, 64, 64, 3, 2, 2, 1, ORDER, false),
            GpuTarget.SM_89),
        set(across(DType.F32, Layout.NN, 70, 72, 52), words, GpuTarget.SM_80),
        set(across(DType.F32, Layout.TN, 67, 130, 45), words, GpuTarget.SM_80),
        set(across(DType.F32, Layout.TT, 70, 72, 52), words, GpuTarget.SM_80),
        set(
            across(DType.F32, Layout.TT, 67, 72, 33),
            new AmpereConfig(64, 96, 32, 2, 2, 1, 1, ORDER, true),
            GpuTarget.SM_80),
        set(across(DType.I8, Layout.NN, 70, 72, 136), bytes, GpuTarget.SM_80),
        set(across(DType.I8, Layout.TN, 68, 131, 77), bytes, GpuTarget.SM_80),
        set(across(DType.I8, Layout.TT, 72, 70, 192), bytes, GpuTarget.SM_80),
        set(
            across(DType.F8E4M3, Layout.TN, 48, 64, 80),
            new AmpereConfig(32, 64, 64, 3, 2, 2, 1, ORDER, false),
            GpuTarget.SM_89),
        set(across(DType.F8E5M2, Layout.NN, 50, 96, 80), bytes, GpuTarget.SM_89),
        set(of(136, 104, 88, Layout.TN, ALL), small, GpuTarget.SM_80),
        set(of(67, 101, 77, Layout.TN, Epilogue.NONE), small, GpuTarget.SM_80),
        set(of(72, 72, 40, Layout.TN, Epilogue.NONE), small, GpuTarget.SM_75),
        set(of(72, 60, 88, Layout.TT, Epilogue.NONE), small, GpuTarget.SM_80),
        set(of(70, 136, 104, Layout.NN, ALL), small, GpuTarget.SM_80),
        set(of(70, 131, 77, Layout.NN, Epilogue.NONE), small, GpuTarget.SM_75),
        set(GemmWorkload.nt(70, 72, 40, DType.F16).times(Batch.of(3)), small, GpuTarget.SM_80),
        set(
            of(67, 65, 101, Layout.NN, ALL).times(new Batch(2, true, false)),
            small,
            GpuTarget.SM_80),
        set(
            GemmWorkload.nt(17, 3, 127, DType.BF16).times(new Batch(3, false, true)),
            small,
            GpuTarget.SM_80),
        set(
            of(70, 72, 40, Layout.NT, Epilogue.NONE).times(Batch.grouped(5, 3)),
            small,
            GpuTarget.SM_80),
        set(of(64, 65, 77, Layout.NN, ALL).times(Batch.grouped(3, 2)), small, GpuTarget.SM_80),
        set(
            of(72, 60, 88, Layout.TT, Epilogue.NONE),
            new AmpereConfig(64, 64, 32, 3, 2, 2, 1, ORDER, true),
            GpuTarget.SM_80));
  }

  /** Operands that lie across K in words or bytes. */
  private static GemmWorkload across(DType operands, Layout layout, long m, long n, long k) {
    GemmWorkload workload = GemmWorkload.of(m, n, k, operands, layout);
    return operands == DType.F32 ? workload.with(Precision.TF32) : workload;
  }

  private static GemmWorkload of(long m, long n, long k, Layout layout, Epilogue epilogue) {
    return new GemmWorkload(m, n, k, DType.F16, DType.F16, layout, epilogue);
  }

  private static ArgumentSet set(GemmWorkload workload, AmpereConfig config, GpuTarget target) {
    return org.junit.jupiter.params.provider.Arguments.argumentSet(
        workload + " " + config + " " + target.name(), workload, config, target);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void computesWhatItWasMadeOf(GemmWorkload workload, AmpereConfig config, GpuTarget target) {
    ScheduledGemm gemm = AmpereGemm.schedule(workload, config, target);
    Simulated.assertSame(gemm);
    // What decides whether a configuration fits must not be less than what the kernel takes.
    assertThat((long) KernelResources.of(gemm.kernel()).sharedBytes())
        .isLessThanOrEqualTo(AmpereGemm.sharedBytes(workload, config));
    if (workload.precision() == Precision.INT8) {
      Simulated.assertComputes(gemm, 0);
    }
  }
}
