package dev.warpwright.families.wgmma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.Simulated;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Op;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.launch.EarlyWeights;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** Kernels that fill their rings with weights before they wait for the launch before. */
class EarlyWeightsTest {
  private static final BlockOrder ROW = new BlockOrder.Row();
  private static final Epilogue BIAS = new Epilogue(1, 0, true, Activation.GELU);

  static Stream<ArgumentSet> cases() {
    return Stream.of(
        // More steps than stages, of which there are no power of two.
        set(5, 136, 456, Layout.NT, BIAS, new HopperConfig(8, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true)),
        // A power of two: the stage is a number's bits.
        set(5, 136, 456, Layout.NT, BIAS, new HopperConfig(8, 64, 64, 4, 1, 1, 1, ROW, 0, 1, true)),
        // Fewer steps than stages.
        set(
            13,
            144,
            136,
            Layout.NN,
            Epilogue.NONE,
            new HopperConfig(16, 128, 64, 5, 2, 1, 1, ROW, 0, 1, true)),
        // Two blocks of a cluster share the steps, an odd number of them.
        set(
            5,
            80,
            712,
            Layout.NT,
            Epilogue.NONE,
            new HopperConfig(8, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true)
                .withDivision(new WorkDivision.Parts(2))),
        // Two blocks go from tile to tile, of which there are seven.
        set(5, 400, 456, Layout.NT, BIAS, new HopperConfig(8, 64, 64, 3, 1, 1, 1, ROW, 2, 1, true)),
        // Fewer steps than stages, tile after tile.
        set(
            13,
            400,
            136,
            Layout.NT,
            Epilogue.NONE,
            new HopperConfig(16, 64, 64, 4, 1, 1, 1, ROW, 3, 1, true)),
        // Clusters of two blocks, which share the activations, go from tile to tile.
        set(
            5,
            720,
            328,
            Layout.NT,
            Epilogue.NONE,
            new HopperConfig(8, 64, 64, 3, 1, 1, 2, ROW, 4, 1, true)),
        // Four blocks go from tile to tile, which leave through shared memory by TMA.
        set(
            200,
            192,
            328,
            Layout.NT,
            Epilogue.NONE,
            new HopperConfig(128, 64, 64, 3, 2, 1, 1, ROW, 4, 1, false)),
        // Rows are rows; two consumers.
        set(
            100,
            96,
            328,
            Layout.NT,
            Epilogue.glu(true, Activation.SILU),
            new HopperConfig(128, 48, 64, 2, 2, 1, 1, ROW, 0, 1, false)));
  }

  private static ArgumentSet set(
      long m, long n, long k, Layout layout, Epilogue epilogue, HopperConfig config) {
    GemmWorkload workload = new GemmWorkload(m, n, k, DType.BF16, DType.BF16, layout, epilogue);
    return Arguments.argumentSet(workload.text() + " " + config, workload, config);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void computesTheSame(GemmWorkload workload, HopperConfig config) {
    ScheduledGemm gemm = HopperGemm.schedule(workload, config);
    Set<String> constants = Set.of("B", "bias", "order", "other");
    Kernel early = EarlyWeights.of(gemm.kernel(), constants).orElseThrow();
    assertThat(LaunchOrder.overlaps(early)).isTrue();
    Set<String> named = new HashSet<>(constants);
    named.retainAll(gemm.kernel().buffers().stream().map(Buffer::name).toList());
    assertThat(LaunchOrder.constants(early.attrs())).isEqualTo(named);
    assertThat(beforeTheWait(early, HopperIntrinsics::isTmaLoad)).isPositive();
    Simulated.assertSame(
        new ScheduledGemm(gemm.func(), gemm.trace(), gemm.tiles(), early, gemm.table()));
  }

  /** Calls in the order of the text before the first wait behind the signal. */
  private static int beforeTheWait(Kernel kernel, Predicate<Op> counted) {
    int[] calls = {0};
    int[] state = {0};
    Walk.statements(
        kernel.body(),
        s -> {
          if (s instanceof Stmt.Evaluate e) {
            if (e.call().op() == HopperIntrinsics.SIGNAL_NEXT) {
              state[0] = 1;
            } else if (e.call().op() == HopperIntrinsics.AWAIT_PREVIOUS && state[0] == 1) {
              state[0] = 2;
            } else if (counted.test(e.call().op()) && state[0] == 1) {
              calls[0]++;
            }
          }
        });
    return calls[0];
  }

  /** A block reads which tiles are its own before it waits. */
  @Test
  void notWhereTilesAreWritten() {
    GemmWorkload workload = GemmWorkload.nt(5, 400, 136, DType.BF16);
    HopperConfig persistent = new HopperConfig(8, 64, 64, 3, 1, 1, 1, ROW, 2, 1, true);
    Kernel kernel = HopperGemm.schedule(workload, persistent).kernel();
    assertThat(EarlyWeights.of(kernel, Set.of("B"))).isEmpty();
    assertThat(EarlyWeights.of(kernel, Set.of("B", "order"))).isPresent();
  }

  @Test
  void notWhereNothingIsConstant() {
    GemmWorkload workload = GemmWorkload.nt(5, 64, 136, DType.BF16);
    Kernel kernel =
        HopperGemm.schedule(workload, new HopperConfig(8, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true))
            .kernel();
    assertThat(EarlyWeights.of(kernel, Set.of())).isEmpty();
    assertThat(EarlyWeights.of(kernel, Set.of("A", "B"))).isEmpty();
    Kernel early = EarlyWeights.of(kernel, Set.of("B")).orElseThrow();
    assertThat(EarlyWeights.of(early, Set.of("B"))).isEmpty();
  }
}
