package dev.warpwright.space;

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
   * @param name of the question, one word
   * @param options at least one, each without white space and {@code =}
   * @return the place of one of the options
   */
  int pick(String name, List<String> options);

  /**
   * {@return one of the texts}
   *
   * @param name of the question, one word
   * @param options at least one
   */
  default String choose(String name, List<String> options) {
    return options.get(pick(name, options));
  }

  /**
   * {@return one of the numbers}
   *
   * @param name of the question, one word
   * @param options at least one
   */
  default long choose(String name, long... options) {
    String[] words = new String[options.length];
    for (int i = 0; i < options.length; i++) {
      words[i] = Long.toString(options[i]);
    }
    return options[pick(name, List.of(words))];
  }

  /**
   * {@return whether the answer is yes, not no}
   *
   * @param name of the question, one word
   */
  default boolean choose(String name) {
    return pick(name, List.of("no", "yes")) == 1;
  }
}
