package dev.warpwright.space;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What was decided, in the order of the questions. In text: {@code sketch=wgmma tileM=128
 * order=grouped:8}.
 *
 * @param choices one for each question
 */
public record Point(List<Choice> choices) {
  /**
   * An answer.
   *
   * @param name of the question
   * @param option that was chosen
   */
  public record Choice(String name, String option) {
    /** Checks that both are words without white space and {@code =}. */
    public Choice {
      requireWord(name);
      requireWord(option);
    }

    private static void requireWord(String text) {
      // A loop: hundreds of thousands of choices are made before a kernel is.
      boolean word = !text.isEmpty();
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        word &= c != '=' && c >= '!' && c <= '~';
      }
      if (!word) {
        throw new IllegalArgumentException(
            "a choice is written in visible ASCII letters without '=': \"" + text + "\"");
      }
    }
  }

  public static final Point EMPTY = new Point(List.of());

  /** Copies the list. */
  public Point {
    choices = List.copyOf(choices);
  }

  /**
   * Reads the text form.
   *
   * @param text as {@link #text()} gives it
   * @return the point
   * @throws IllegalArgumentException if it is none
   */
  public static Point parse(String text) {
    Map<String, Choice> choices = new LinkedHashMap<>();
    for (String word : text.strip().split(" +")) {
      if (word.isEmpty()) {
        continue;
      }
      int equals = word.indexOf('=');
      if (equals < 0) {
        throw new IllegalArgumentException("\"" + word + "\" is no choice; write name=option");
      }
      Choice choice = new Choice(word.substring(0, equals), word.substring(equals + 1));
      if (choices.put(choice.name(), choice) != null) {
        throw new IllegalArgumentException(choice.name() + " is chosen twice in \"" + text + "\"");
      }
    }
    return new Point(List.copyOf(choices.values()));
  }

  /**
   * {@return the option chosen for a name, or null if it was not asked}
   *
   * @param name of a question
   */
  public @Nullable String option(String name) {
    for (Choice choice : choices) {
      if (choice.name().equals(name)) {
        return choice.option();
      }
    }
    return null;
  }

  /**
   * {@return whether this has all choices of another point} What it has beside them are decisions
   * that did not exist when the other was recorded; the first option of such a decision is what
   * there was.
   *
   * @param other of the same space
   */
  public boolean agrees(Point other) {
    return choices.containsAll(other.choices);
  }

  /**
   * {@return the same without a choice, so that another can be made}
   *
   * @param name of a question
   */
  public Point without(String name) {
    return new Point(choices.stream().filter(c -> !c.name().equals(name)).toList());
  }

  /**
   * {@return the same with another option for a question, or with one question more}
   *
   * @param name of a question
   * @param option that is chosen
   */
  public Point with(String name, String option) {
    List<Choice> changed = new ArrayList<>(choices);
    Choice choice = new Choice(name, option);
    for (int i = 0; i < changed.size(); i++) {
      if (changed.get(i).name().equals(name)) {
        changed.set(i, choice);
        return new Point(changed);
      }
    }
    changed.add(choice);
    return new Point(changed);
  }

  /** {@return eight hexadecimal digits that stand for the point where its text is too long} */
  public String digest() {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] bytes = digest.digest(text().getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(bytes, 0, Integer.BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** {@return the text form} */
  public String text() {
    return choices.stream().map(c -> c.name() + "=" + c.option()).collect(Collectors.joining(" "));
  }

  @Override
  public String toString() {
    return text();
  }
}
