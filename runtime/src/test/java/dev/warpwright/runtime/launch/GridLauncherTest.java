package dev.warpwright.runtime.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.runtime.cuda.Dim3;
import dev.warpwright.runtime.cuda.LaunchConfig;
import dev.warpwright.runtime.cuda.TensorMapSpec;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TensorMaps;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GridLauncherTest {
  private static final Kernel KERNEL =
      new IrParser(Intrinsics::find)
          .kernel(
              "test",
              """
              kernel load(A: bf16[M, 96], M: i32 in 1..1000) grid(bx = (M + 63) / 64, by = 3) block(tx = 128) {
                alloc As: bf16[16, 128, 64] shared layout (16:8192),(128:64),(64:1)^<3,3,3> align 1024
                alloc full: mbarrier[1] shared
                if tx == 0 {
                  bulk.load.2d(&As[0, 0, 0], &A[bx * 64, 0], &full[0], 128, 64)
                }
              }
              """);
  private static final Var ROWS = KERNEL.scalars().getFirst().var();

  @Test
  void launchesFollowFromBindingsAndBuffers() {
    LaunchConfig config = GridLauncher.config(KERNEL, Map.of(ROWS, 130L));
    assertThat(config.grid()).isEqualTo(new Dim3(3, 3));
    assertThat(config.block()).isEqualTo(new Dim3(128));
    assertThat(config.dynamicShared()).isGreaterThanOrEqualTo(16 * 128 * 64 * 2);
  }

  @Test
  void whoWaitsForTheLaunchesBeforeMayBeginAheadOfTheirEnd() {
    assertThat(GridLauncher.config(KERNEL, Map.of(ROWS, 130L)).programmatic()).isFalse();
    Kernel waits =
        new IrParser(Intrinsics::find)
            .kernel(
                "test",
                "kernel k(y: f32[32]) grid(bx = 1) block(tx = 32) { griddepcontrol.wait(); y[tx] ="
                    + " 1.0f32 }");
    assertThat(GridLauncher.config(waits, Map.of()).programmatic()).isTrue();
  }

  @Test
  void blocksThatWaitForEachOtherAreLaunchedTogether() {
    assertThat(GridLauncher.config(KERNEL, Map.of(ROWS, 130L)).cooperative()).isFalse();
    Kernel waits =
        new IrParser(Intrinsics::find)
            .kernel(
                "test",
                "kernel k(y: f32[32]) grid(bx = 1) block(tx = 32) [cooperative = 1] { y[tx] ="
                    + " 1.0f32 }");
    assertThat(GridLauncher.config(waits, Map.of()).cooperative()).isTrue();
  }

  @Test
  void tensorMapsDescribeTheBuffersOfTheLaunch() {
    List<TensorMaps.Spec> maps = TensorMaps.of(KERNEL).maps();
    assertThat(maps).hasSize(1);
    TensorMapSpec tensor = GridLauncher.tensor(maps.getFirst(), Map.of(ROWS, 130L));
    assertThat(tensor.dims()).containsExactly(96L, 130L);
    assertThat(tensor.strides()).containsExactly(192L);
    assertThat(tensor.box()).containsExactly(64, 128);
    assertThat(tensor.type()).isEqualTo(TensorMapSpec.Type.BF16);
    assertThat(tensor.swizzle()).isEqualTo(TensorMapSpec.Swizzle.B128);
  }
}
