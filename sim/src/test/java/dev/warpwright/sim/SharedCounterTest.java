package dev.warpwright.sim;

import static dev.warpwright.sim.Checked.check;
import static dev.warpwright.sim.Checked.expect;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Counters of a block in shared memory: the last of its warps finds what the others have done. */
class SharedCounterTest {
  private static final String LAST =
      """
      kernel last(out: f32[2, 4]) grid(bx = 2) block(tid = 128) {
        alloc count: u32[1] shared
        alloc s: f32[4] shared
        if tid == 0 {
          count[0] = 0u32
        }
        sync_threads()
        if tid % 32 == 0 {
          s[tid / 32] = f32(tid + bx)
          let turn: u32 = atomic.add.acq_rel.shared.u32(&count[0], 1u32)
          if turn == 3u32 {
            for i in 4 {
              out[bx, i] = s[i]
            }
          }
        }
      }
      """;

  @Test
  void theLastOfABlockSeesWhatAllHaveDone() {
    Kernel kernel = KernelTexts.parse(LAST);
    for (GridOptions options : KernelFilesTest.ORDERS) {
      Arguments arguments = Arguments.random(kernel.params(), 1, Map.of());
      assertThat(new GridInterpreter(kernel, options).check(arguments)).isEmpty();
      assertThat(arguments.get("out").toDoubles()).containsExactly(0, 32, 64, 96, 1, 33, 65, 97);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "turn == 3u32 | turn == 2u32 | UNINITIALISED | s[",
        "count[0] = 0u32 | s[0] = 0.0f32 | UNINITIALISED | count[0]",
        "sync_threads() | | RACE | without a barrier between them",
        "s[tid / 32] = f32(tid + bx) let turn: u32 = atomic.add.acq_rel.shared.u32(&count[0], 1u32)"
            + " | let turn: u32 = atomic.add.acq_rel.shared.u32(&count[0], 1u32)"
            + " s[tid / 32] = f32(tid + bx) | RACE | without a barrier between them",
      })
  void mistakesAreReported(String what, String by, Finding.Kind kind, String message) {
    String text = LAST.replaceAll("\\s+", " ");
    // The last order lets warps run one behind the other, as they come.
    expect(check(KernelTexts.replaced(text, what, by == null ? "" : by)), kind, message);
  }
}
