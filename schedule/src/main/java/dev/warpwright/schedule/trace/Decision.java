package dev.warpwright.schedule.trace;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A choice that a trace records.
 *
 * @param instruction its index in the trace
 * @param op what was sampled
 * @param chosen the factors of a tile, or the index of a candidate
 */
public record Decision(int instruction, String op, List<Long> chosen) {
  /** Copies the list. */
  public Decision {
    chosen = List.copyOf(chosen);
  }

  /**
   * {@return numbers as an argument of an instruction, {@code 4,2,8}}
   *
   * @param numbers one or more
   */
  public static String write(List<Long> numbers) {
    return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  /**
   * Reads what {@link #write} writes.
   *
   * @param text numbers with commas between them
   * @return the numbers
   * @throws UserError if the text is something else
   */
  public static List<Long> read(String text) {
    List<Long> numbers = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      try {
        numbers.add(Long.valueOf(part));
      } catch (NumberFormatException e) {
        throw new UserError("trace: '" + text + "' is no list of integers", e);
      }
    }
    return numbers;
  }
}
