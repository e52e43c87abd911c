package dev.warpwright.tune.space;

import java.util.Arrays;
import java.util.List;

/**
 * Answers the questions that a {@link Sketch} asks. Each name is asked once. The first option of a
 * question that older records do not answer is what they were measured with.
 */
@FunctionalInterface
public interface Decisions {
  /**
   * Decides.
   *
   * @param options at least one, each without white space and {@code =}
   * @return the place of one of the options
   */
  int pick(String name, List<String> options);

  /** One of the texts. */
  default String choose(String name, List<String> options) {
    return options.get(pick(name, options));
  }

  /** One of the numbers. */
  default long choose(String name, long... options) {
    return options[pick(name, Arrays.stream(options).mapToObj(Long::toString).toList())];
  }

  /** Yes or no. */
  default boolean choose(String name) {
    return pick(name, List.of("no", "yes")) == 1;
  }
}
