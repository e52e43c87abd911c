package dev.warpwright.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.warpwright.ir.PrimFunc;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Asserts that a primitive refuses for the right reason and leaves everything as it was. */
public final class Refusal {
  private Refusal() {}

  public static ScheduleError of(
      Schedule schedule, String primitive, int requirement, String reason, ThrowingCallable call) {
    PrimFunc before = schedule.func();
    List<?> trace = steps(schedule);
    ScheduleError error = catchThrowableOfType(ScheduleError.class, call);
    assertThat(error).as("a refusal by %s", primitive).isNotNull();
    assertThat(error.primitive()).isEqualTo(primitive);
    assertThat(error.requirement()).as(error.getMessage()).isEqualTo(requirement);
    assertThat(error.reason()).contains(reason);
    assertThat(error.func()).isSameAs(before);
    assertThat(schedule.func()).isSameAs(before);
    assertThat(steps(schedule)).isEqualTo(trace);
    return error;
  }

  /** What changed the function; looking loops up (in the call itself) does not. */
  private static List<?> steps(Schedule schedule) {
    return schedule.trace().instructions().stream().filter(x -> !x.op().equals("loops")).toList();
  }
}
