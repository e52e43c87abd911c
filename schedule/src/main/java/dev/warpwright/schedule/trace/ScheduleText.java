package dev.warpwright.schedule.trace;

import java.util.ArrayList;
import java.util.List;

/** A schedule's steps for people: {@code l3, l4 = split(l1, factor = 8)}, a line for each. */
public final class ScheduleText {
  private ScheduleText() {}

  /**
   * {@return the steps in text, a line each, as {@code kernel --schedule} reads them}
   *
   * @param trace what was done
   */
  public static String of(Trace trace) {
    StringBuilder text = new StringBuilder();
    for (Instruction step : trace.instructions()) {
      List<String> arguments = new ArrayList<>(step.inputs());
      step.attrs().forEach((key, value) -> arguments.add(key + " = " + written(key, value)));
      if (!step.outputs().isEmpty()) {
        text.append(String.join(", ", step.outputs())).append(" = ");
      }
      text.append(step.op()).append('(').append(String.join(", ", arguments)).append(")\n");
    }
    return text.toString();
  }

  /** In quotes where it could be taken for something else: a number, or another argument. */
  private static String written(String key, Object value) {
    String text = value.toString();
    boolean plain =
        value instanceof Long
            || !(key.equals("value") && text.matches("-?\\d+"))
                && !text.contains("=")
                && text.equals(text.strip());
    return plain ? text : '"' + text + '"';
  }
}
