package dev.warpwright.families.wgmma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.Simulated;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.schedule.Replay;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** GEMMs that norm the rows of A themselves. */
final class NormedGemmTest {
  private static final BlockOrder ROW = new BlockOrder.Row();
  private static final Epilogue NORMED = Epilogue.NONE.normed(1e-5);
  private static final Epilogue ALL =
      new Epilogue(0.5, 0, true, Activation.SILU, false, true, true, true).normed(0.25);
  private static final Epilogue GATED = Epilogue.glu(false, Activation.SILU).normed(1e-6);

  static Stream<ArgumentSet> cases() {
    return Stream.of(
        set(of(1, 72, 256, DType.BF16, NORMED), swapped(8, 64, 64, 4)),
        set(of(3, 200, 192, DType.F16, ALL), swapped(8, 64, 64, 3)),
        set(of(16, 136, 256, DType.BF16, NORMED), swapped(16, 64, 128, 3)),
        set(of(16, 128, 136, DType.BF16, GATED), swapped(16, 64, 128, 3)),
        set(of(16, 256, 136, DType.BF16, NORMED), swapped(24, 128, 64, 3)),
        set(of(17, 136, 264, DType.BF16, ALL), swapped(24, 64, 128, 3)),
        set(of(17, 192, 128, DType.F16, GATED), swapped(16, 64, 64, 3)),
        set(of(64, 128, 320, DType.BF16, NORMED), swapped(64, 64, 64, 3)),
        set(of(64, 96, 192, DType.BF16, ALL), plain(64, 48, 64, 3)),
        set(of(64, 96, 192, DType.BF16, GATED), plain(64, 48, 64, 3)),
        set(of(40, 104, 72, DType.F16, NORMED), plain(64, 56, 64, 2).fromRegisters()),
        set(of(16, 144, 256, DType.BF16, NORMED), plain(16, 48, 128, 3).fromRegisters()),
        set(of(17, 96, 200, DType.F16, GATED), plain(32, 48, 64, 3).fromRegisters()),
        // Blocks that go from tile to tile, and such as share the rows' copies.
        set(of(33, 320, 192, DType.BF16, NORMED), persistent(16, 1, 3)),
        set(of(16, 512, 256, DType.BF16, GATED), persistent(16, 4, 4)),
        set(of(16, 256, 256, DType.BF16, NORMED), clustered(24, 4)));
  }

  private static GemmWorkload of(long m, long n, long k, DType type, Epilogue epilogue) {
    return new GemmWorkload(m, n, k, type, type, Layout.NT, epilogue);
  }

  private static HopperConfig swapped(int m, int n, int k, int stages) {
    return new HopperConfig(m, n, k, stages, 1, 1, 1, ROW, 0, 1, true);
  }

  private static HopperConfig plain(int m, int n, int k, int stages) {
    return new HopperConfig(m, n, k, stages, 1, 1, 1, ROW, 0, 1, false);
  }

  private static HopperConfig persistent(int m, int cluster, int blocks) {
    return new HopperConfig(m, 64, 64, 3, 1, 1, cluster, ROW, blocks, 1, true);
  }

  private static HopperConfig clustered(int m, int cluster) {
    return new HopperConfig(m, 64, 128, 3, 1, 1, cluster, ROW, 0, 1, true);
  }

  private static ArgumentSet set(GemmWorkload workload, HopperConfig config) {
    return argumentSet(workload + " " + config, workload, config);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void computesWhatItWasMadeOf(GemmWorkload workload, HopperConfig config) {
    ScheduledGemm gemm = HopperGemm.schedule(workload, config);
    Simulated.assertSame(gemm);
    assertThat(IrPrinter.text(Replay.schedule(gemm.trace(), gemm.func(), 0).func()))
        .isEqualTo(IrPrinter.text(gemm.tiles()));
  }

  @Test
  void keysSayIt() {
    GemmWorkload workload = of(16, 128, 256, DType.BF16, GATED);
    assertThat(workload.key().text()).contains("glu,norm:1.0E-6");
    assertThat(GemmWorkload.of(workload.key())).isEqualTo(workload);
  }

  @Test
  void othersNormNoRows() {
    GemmWorkload workload = of(16, 128, 256, DType.BF16, NORMED);
    assertThat(GemmSpace.of(workload, GpuTarget.SM_90A, 132).toString()).isNotEmpty();
    assertThat(
            HopperLimits.problem(
                workload, swapped(16, 64, 64, 3).withDivision(new WorkDivision.Parts(2))))
        .contains("one warpgroup");
  }
}
