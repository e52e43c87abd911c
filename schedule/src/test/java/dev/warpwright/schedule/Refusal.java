package dev.warpwright.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.schedule.error.ScheduleError;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * Asserts that a primitive refuses for the right reason, prints the program with the culprit
 * marked, and leaves everything as it was.
 */
public final class Refusal {
  private Refusal() {}

  /** Of a primitive that is called on a schedule. */
  public static ScheduleError of(
      Schedule schedule, String primitive, int requirement, String reason, ThrowingCallable call) {
    PrimFunc before = schedule.func();
    List<?> trace = steps(schedule);
    ScheduleError error = of(before, primitive, requirement, reason, call);
    assertThat(schedule.func()).isSameAs(before);
    assertThat(steps(schedule)).isEqualTo(trace);
    return error;
  }

  /** Of a function from which a schedule cannot start. */
  public static ScheduleError ofStart(PrimFunc func, int requirement, String reason) {
    return of(func, "schedule", requirement, reason, () -> new Schedule(func));
  }

  private static ScheduleError of(
      PrimFunc func, String primitive, int requirement, String reason, ThrowingCallable call) {
    ScheduleError error = catchThrowableOfType(ScheduleError.class, call);
    assertThat(error).as("a refusal by %s", primitive).isNotNull();
    assertThat(error.primitive()).isEqualTo(primitive);
    assertThat(error.requirement()).as(error.getMessage()).isEqualTo(requirement);
    assertThat(error.reason()).contains(reason);
    assertThat(error.func()).isSameAs(func);
    printsTheProgram(error);
    return error;
  }

  /** One line, then the program; under the culprit, if a statement is one, there are carets. */
  private static void printsTheProgram(ScheduleError error) {
    List<String> lines = error.getMessage().lines().toList();
    assertThat(lines.getFirst()).isEqualTo(error.summary());
    List<String> program = lines.subList(1, lines.size());
    assertThat(program.stream().filter(line -> !isMark(line)).toList())
        .as(error.getMessage())
        .isEqualTo(IrPrinter.text(error.func()).lines().toList());
    assertThat(program.stream().anyMatch(Refusal::isMark))
        .as("a culprit is marked in\n%s", error.getMessage())
        .isEqualTo(error.culprit() != null);
  }

  private static boolean isMark(String line) {
    return line.matches(" *\\^+");
  }

  /** What changed the function; looking loops up (in the call itself) does not. */
  private static List<?> steps(Schedule schedule) {
    return schedule.trace().instructions().stream().filter(x -> !x.op().equals("loops")).toList();
  }
}
