package dev.warpwright.lower.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Kernels that wait for the launches before where they first touch what those may have written. */
class LateWaitTest {
  private static final long SEED = Long.getLong("seed", 81);

  /** Weights to shared memory; then rows, if the block has any. */
  private static final String SCALE =
      """
      kernel scale(x: f32[n], w: f32[64], y: f32[n], n: i32 in 1..1024) grid(bx = 3) block(tid = 64) {
        alloc s: f32[64] shared
        s[tid] = w[tid]
        sync_threads()
        if bx * 64 + tid < n {
          y[bx * 64 + tid] = x[bx * 64 + tid] * s[tid]
        }
      }
      """;

  private static Kernel parse(String text) {
    return new IrParser(Intrinsics::find).kernel("test", text);
  }

  private static Kernel late(String text, String... constants) {
    return LateWait.of(parse(text), Set.of(constants)).orElseThrow();
  }

  private static void isClean(Kernel kernel) {
    assertThat(Verifier.verify(kernel)).isEmpty();
    // The last block has no rows.
    Arguments arguments = Arguments.random(kernel.params(), SEED, Map.of("n", 100));
    assertThat(new GridInterpreter(kernel, GridOptions.DEFAULT).check(arguments)).isEmpty();
  }

  private static List<String> lines(Kernel kernel) {
    return IrPrinter.text(kernel).lines().map(String::strip).toList();
  }

  @Test
  void waitsBehindItsWeightsAheadOfItsRows() {
    Kernel kernel = late(SCALE, "w", "other");
    assertThat(lines(kernel))
        .containsSubsequence(
            "griddepcontrol.launch_dependents()",
            "sync_threads()",
            "griddepcontrol.wait()",
            "if bx * 64 + tid < n {")
        .containsOnlyOnce("griddepcontrol.wait()");
    assertThat(kernel.attrs().getString("constants")).isEqualTo("w");
    isClean(kernel);
  }

  /** Each of those that touch more than weights. */
  @Test
  void branchesOfThreadsWaitEachForItself() {
    String text =
        SCALE.replace(
            "if bx * 64 + tid < n {\n    y[bx * 64 + tid] = x[bx * 64 + tid] * s[tid]\n  }",
            """
            if tid < 32 {
                if bx * 64 + tid < n {
                  y[bx * 64 + tid] = x[bx * 64 + tid] * s[tid]
                }
              } else {
                s[tid] = w[tid] * w[0]
              }\
            """);
    Kernel kernel = late(text, "w");
    assertThat(lines(kernel))
        .containsSubsequence("if tid < 32 {", "griddepcontrol.wait()", "} else {")
        .containsOnlyOnce("griddepcontrol.wait()");
    isClean(kernel);
    Kernel both = late(text.replace("s[tid] = w[tid] * w[0]", "y[0] = w[0]"), "w");
    assertThat(lines(both)).filteredOn("griddepcontrol.wait()"::equals).hasSize(2);
    Kernel before = late(text.replace("s[tid] = w[tid] * w[0]", "s[tid] = x[0]"), "w", "x");
    assertThat(lines(before))
        .containsSubsequence("if tid < 32 {", "griddepcontrol.wait()", "} else {")
        .containsOnlyOnce("griddepcontrol.wait()");
  }

  /** All threads of a block go one way: the others' blocks would end without having waited. */
  @Test
  void branchesOfBlocksWaitInFront() {
    String text =
        SCALE
            .replace("if bx * 64 + tid < n {", "if bx < 1 {")
            .replace(
                "  }\n}",
                """
              } else {
                s[tid] = w[tid] * w[0]
              }
            }\
            """);
    Kernel kernel = late(text, "w");
    assertThat(lines(kernel))
        .containsSubsequence("griddepcontrol.wait()", "if bx < 1 {")
        .containsOnlyOnce("griddepcontrol.wait()");
    isClean(kernel);
  }

  /**
   * Rows in vectors; what follows them, a second read of the same rows included, is not asked for.
   */
  @Test
  void firstReadsAreOnTheirWayWhileItWaits() {
    String text =
        """
        kernel rows(x: f32[n], w: f32[256], y: f32[n], n: i32 in 4..1024) grid(bx = 3) block(tid = 64) {
          alloc s: f32[256] shared
          s[ramp(tid * 4, 1, 4)] = w[ramp(tid * 4, 1, 4)]
          sync_threads()
          if bx * 256 + tid * 4 < n - 3 {
            let first = bx * 256 + tid * 4
            alloc r: f32[4] local
            r[ramp(0, 1, 4)] = x[ramp(first, 1, 4)]
            y[ramp(first, 1, 4)] = r[ramp(0, 1, 4)] * s[ramp(tid * 4, 1, 4)]
            r[ramp(0, 1, 4)] = x[ramp(first, 1, 4)]
          }
        }
        """;
    Kernel kernel = late(text, "w");
    assertThat(lines(kernel))
        .containsSubsequence(
            "sync_threads()",
            "if bx * 256 + tid * 4 < n - 3 {",
            "prefetch.l2(&x[first])",
            "griddepcontrol.wait()",
            "if bx * 256 + tid * 4 < n - 3 {")
        .containsOnlyOnce("prefetch.l2(&x[first])");
    isClean(kernel);
    assertThat(lines(late(SCALE, "w"))).noneMatch(line -> line.contains("prefetch"));
  }

  /** Of a loop over items the first one's rows, on which it passes to other threads. */
  @Test
  void theFirstItemsRowsAreOnTheirWay() {
    String text =
        """
        kernel items(x: f32[n], w: f32[256], y: f32[n], n: i32 in 4..4096) grid(bx = 3) block(tid = 64) {
          alloc s: f32[256] shared
          alloc t: f32[256] shared
          s[ramp(tid * 4, 1, 4)] = w[ramp(tid * 4, 1, 4)]
          sync_threads()
          for turn in (n - bx * 256 + 767) / 768 [items = 1] {
            alloc r: f32[4] local
            sync_warp()
            r[ramp(0, 1, 4)] = select(broadcast(turn * 768 + bx * 256 + tid * 4 < n - 3, 4),
                x[ramp(turn * 768 + bx * 256 + tid * 4, 1, 4)], broadcast(0.0f32, 4))
            t[ramp(tid * 4, 1, 4)] = r[ramp(0, 1, 4)]
            if turn * 768 + bx * 256 + tid * 4 < n - 3 {
              y[ramp(turn * 768 + bx * 256 + tid * 4, 1, 4)] =
                  t[ramp(tid * 4, 1, 4)] * s[ramp(tid * 4, 1, 4)]
            }
          }
        }
        """;
    Kernel kernel = late(text, "w");
    assertThat(lines(kernel))
        .containsSubsequence(
            "sync_threads()", "prefetch.l2(&x[bx * 256 + tid * 4])", "griddepcontrol.wait()")
        .containsOnlyOnce("prefetch.l2(&x[bx * 256 + tid * 4])");
    isClean(kernel);
    // What other threads may still do is waited for first; and a loop of steps is no loop over
    // items.
    assertThat(lines(late(text.replace("sync_warp", "sync_threads"), "w")))
        .noneMatch(line -> line.contains("prefetch"));
    assertThat(lines(late(text.replace("[items = 1] ", ""), "w")))
        .noneMatch(line -> line.contains("prefetch"));
  }

  @Test
  void notWhereNothingIsGained() {
    assertThat(LateWait.of(parse(SCALE), Set.of())).isEmpty();
    assertThat(LateWait.of(parse(SCALE), Set.of("other"))).isEmpty();
    assertThat(LateWait.of(parse(SCALE), Set.of("w", "x", "y"))).isEmpty();
    assertThat(LateWait.of(late(SCALE, "w"), Set.of("w"))).isEmpty();
  }
}
