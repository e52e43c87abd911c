package dev.warpwright.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.schedule.trace.Trace;

/** What every primitive has to stand: the result is as written down, replayed, and right. */
public final class Outcome {
  private Outcome() {}

  /**
   * Asserts that the schedule of a function gives this text, replayed too, and the same results.
   */
  public static void is(PrimFunc func, Schedule schedule, String text) {
    PrimFunc result = schedule.func();
    assertThat(IrPrinter.text(result).strip()).isEqualTo(text.strip());
    PrimFunc parsed = new IrParser().file("expected", text).primFuncs().getFirst();
    assertThat(StructuralEquality.difference(parsed, result)).isEmpty();
    replays(func, schedule);
    keepsResults(func, schedule);
  }

  /** Asserts that the trace, written as JSON and read again, gives the same program. */
  public static void replays(PrimFunc func, Schedule schedule) {
    Trace trace = schedule.trace();
    Trace read = Trace.parse(trace.toJson());
    assertThat(read).isEqualTo(trace);
    assertThat(StructuralEquality.difference(schedule.func(), Replay.func(read, func))).isEmpty();
  }

  /**
   * Asserts that the program is well-formed and computes what the function does: the same bits, or
   * where sums were taken apart, the same sums of integers.
   */
  public static void keepsResults(PrimFunc func, Schedule schedule) {
    // Compacted buffers are indexed relative to loops around until the block is tensorized.
    assertThat(Verifier.verify(schedule.func()))
        .filteredOn(problem -> !problem.message().contains("of a loop around it"))
        .as("%s", IrPrinter.text(schedule.func()))
        .isEmpty();
    int rows = func.scalars().isEmpty() ? 1 : 10;
    boolean reassociated =
        schedule.trace().instructions().stream()
            .anyMatch(x -> x.op().equals("rfactor") || x.op().equals("splitK"));
    for (int m = 0; m < rows; m += 3) {
      if (reassociated) {
        Functions.assertSameSums(func, schedule.func(), m);
      } else {
        Functions.assertSameResults(func, schedule.func(), m);
      }
    }
  }
}
