package dev.warpwright.families;

import dev.warpwright.ir.BlockOrder;
import dev.warpwright.ir.DType;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** Schedules for Hopper: what they make computes what they were made of, without findings. */
class HopperGemmTest {
  private static final Epilogue ALL = new Epilogue(0.5, 2, true, Activation.GELU_TANH);

  static Stream<ArgumentSet> cases() {
    return Stream.of(
        set(GemmWorkload.nt(200, 264, 136, DType.BF16), HopperConfig.pairs(64, 64, 3, 1, 2)),
        set(
            GemmWorkload.nt(136, 200, 72, DType.F16),
            HopperConfig.pairs(128, 112, 2, 2, 2).withCluster(1, 2)),
        set(
            new GemmWorkload(
                100, 72, 64, DType.BF16, DType.F32, GemmWorkload.Layout.NT, Epilogue.NONE),
            HopperConfig.pairs(64, 64, 3, 1, 2).withCluster(1, 1)),
        set(
            new GemmWorkload(100, 77, 64, DType.F16, DType.F16, GemmWorkload.Layout.NT, ALL),
            HopperConfig.pairs(64, 64, 3, 1, 2).withCluster(1, 1)),
        set(
            new GemmWorkload(100, 72, 64, DType.BF16, DType.BF16, GemmWorkload.Layout.NT, ALL),
            HopperConfig.pairs(128, 48, 3, 2, 2).withCluster(1, 1)),
        set(
            new GemmWorkload(
                136, 200, 136, DType.BF16, DType.BF16, GemmWorkload.Layout.NN, Epilogue.NONE),
            HopperConfig.pairs(64, 128, 3, 1, 2)),
        set(
            new GemmWorkload(
                136, 264, 72, DType.F16, DType.F16, GemmWorkload.Layout.NN, Epilogue.NONE),
            HopperConfig.pairs(128, 112, 2, 2, 2).withCluster(1, 2)),
        set(
            GemmWorkload.nt(13, 200, 264, DType.BF16),
            new HopperConfig(16, 64, 128, 3, 1, 1, 1, new BlockOrder.Row(), 0, 2, true)),
        set(
            GemmWorkload.nt(37, 129, 128, DType.BF16),
            new HopperConfig(32, 128, 64, 3, 2, 1, 1, new BlockOrder.Row(), 0, 1, true)));
  }

  private static ArgumentSet set(GemmWorkload workload, HopperConfig config) {
    return org.junit.jupiter.params.provider.Arguments.argumentSet(
        workload + " " + config, workload, config);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void computesWhatItWasMadeOf(GemmWorkload workload, HopperConfig config) {
    Simulated.assertSame(HopperGemm.schedule(workload, config));
  }
}
