package dev.warpwright.families.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.CacheHints;
import dev.warpwright.workload.Attention;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Kernels that ask for what their rings are filled with first, and then wait for launches before.
 */
class FirstCopiesTest {
  private static final long SEED = Long.getLong("seed", 31);

  @ParameterizedTest
  @CsvSource({
    "2, 4, 128, 100, BF16, rows=16 keys=32 splits=2 threads=32 stages=3, 2",
    "1, 2, 64, 64, F16, rows=16 keys=16 splits=4 threads=64 stages=2, 2",
    "3, 2, 96, 33, BF16, rows=16 keys=32 splits=1 threads=32 stages=4, 2",
    "1, 2, 64, 64, F16, rows=16 keys=16 splits=4 threads=64 stages=1, 0"
  })
  void computesTheSame(
      int batch, int heads, int head, int keys, DType type, String config, int asked) {
    Attention attention = new Attention(batch, heads, 1, head, 1, keys, false, 0.1f, type, 0);
    Kernel kernel =
        AttentionKernels.ofFull(
                attention, Objects.requireNonNull(AttentionConfig.parse(config)), GpuTarget.SM_90A)
            .kernels()
            .getFirst();
    Kernel plain = EarlyStart.waiting(kernel, Set.of(), false).orElseThrow();
    Kernel early = EarlyStart.waiting(kernel, Set.of(), true).orElseThrow();
    assertThat(Verifier.verify(early)).as(IrPrinter.text(early)).isEmpty();
    assertThat(requests(plain)).isZero();
    assertThat(requests(early)).as(IrPrinter.text(early)).isEqualTo(asked);
    Arguments expected = Arguments.random(kernel.params(), SEED);
    Arguments actual = Arguments.random(kernel.params(), SEED);
    assertThat(new GridInterpreter(kernel, GridOptions.DEFAULT).check(expected)).isEmpty();
    assertThat(new GridInterpreter(early, GridOptions.random(SEED)).check(actual)).isEmpty();
    kernel
        .buffers()
        .forEach(
            buffer ->
                assertThat(actual.get(buffer.name()).sameBits(expected.get(buffer.name())))
                    .as(buffer.name())
                    .isTrue());
  }

  /** What is asked for before the wait, in the order of the text. */
  private static int requests(Kernel kernel) {
    int[] state = {0, 0};
    Walk.statements(
        kernel.body(),
        s -> {
          if (LaunchOrder.awaitsPrevious(s)) {
            state[1] = 1;
          } else if (s instanceof Stmt.Evaluate e && e.call().op() == CacheHints.PREFETCH_L2) {
            assertThat(state[1]).as("asked for before it waits").isZero();
            state[0]++;
          }
        });
    return state[0];
  }
}
