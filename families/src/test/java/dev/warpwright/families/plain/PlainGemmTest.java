package dev.warpwright.families.plain;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.families.Simulated;
import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** One thread for each element: whatever the product is. */
class PlainGemmTest {
  private static final Epilogue ALL =
      new Epilogue(0.5, 2, true, Activation.RELU, true, true, true, true);

  static Stream<GemmWorkload> workloads() {
    return Stream.of(
        GemmWorkload.of(17, 9, 5, DType.F8E4M3, Layout.NT),
        GemmWorkload.of(5, 33, 7, DType.F8E5M2, Layout.NN),
        GemmWorkload.of(5, 3, 7, DType.BF16, Layout.TN),
        GemmWorkload.of(5, 3, 7, DType.F32, Layout.TN).with(new GemmWorkload.Leading(6, 7, 8)),
        GemmWorkload.of(5, 3, 7, DType.I8, Layout.TT),
        GemmWorkload.of(1, 1, 1, DType.F64, Layout.NT),
        new GemmWorkload(9, 17, 3, DType.F16, DType.F32, Layout.NT, ALL),
        new GemmWorkload(9, 17, 0, DType.BF16, DType.BF16, Layout.NT, ALL),
        GemmWorkload.of(9, 17, 0, DType.F32, Layout.TN));
  }

  @ParameterizedTest
  @MethodSource("workloads")
  void computesWhatItWasMadeOf(GemmWorkload workload) {
    Simulated.assertComputes(PlainGemm.schedule(workload, 4, 16), 4e-3);
  }

  @Test
  void blocksAreWholeWarps() {
    assertThatThrownBy(() -> PlainGemm.schedule(GemmWorkload.nt(1, 1, 1, DType.F32), 3, 5))
        .isInstanceOf(UserError.class)
        .hasMessage("a block of 3 x 5 threads");
  }
}
