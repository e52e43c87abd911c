package dev.warpwright.cli.program;

import dev.warpwright.base.UserError;
import dev.warpwright.schedule.trace.Instruction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the steps of a schedule, one a line: {@code i_o, i_i = split(i, factor = 16)}, as {@code
 * ScheduleText} writes them. The names before the equals sign are the writer's own; a line may go
 * without. What stands behind {@code #} or {@code //} is a comment.
 */
final class StepText {
  private static final Pattern STEP = Pattern.compile("(?:([^=(]+)=)?\\s*(\\w+)\\s*\\((.*)\\)");
  private static final Pattern ARGUMENT = Pattern.compile("(\\w+)\\s*=\\s*(.*)", Pattern.DOTALL);
  private static final Pattern COMMENT = Pattern.compile("(?:^|\\s)(?:#|//).*");
  private static final Pattern NAME = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_.]*");
  private static final Pattern NUMBER = Pattern.compile("-?\\d{1,18}");

  /** Arguments that are text even if they look like a number, as a list of one. */
  private static final Set<String> TEXTS =
      Set.of("multiples", "order", "candidates", "weights", "decision", "key", "layout", "scope");

  /**
   * A step and where it stands.
   *
   * @param line counted from 1
   */
  record Line(int line, Instruction step) {}

  private StepText() {}

  /**
   * All steps of a text.
   *
   * @param file for messages
   * @throws UserError if a line is no step; the message names it
   */
  static List<Line> read(String file, String text) {
    List<Line> steps = new ArrayList<>();
    int number = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      String step = withoutComment(line);
      if (!step.isEmpty()) {
        steps.add(new Line(number, step(file + ":" + number, step)));
      }
    }
    return steps;
  }

  private static String withoutComment(String line) {
    // A quoted text may hold anything.
    return line.contains("\"") && !line.strip().startsWith("#")
        ? line.strip()
        : COMMENT.matcher(line).replaceFirst("").strip();
  }

  private static Instruction step(String where, String text) {
    Matcher step = STEP.matcher(text);
    if (!step.matches()) {
      throw new UserError(
          where + ": '" + text + "' is no step; write i_o, i_i = split(i, factor = 16)");
    }
    List<String> inputs = new ArrayList<>();
    SortedMap<String, Object> attrs = new TreeMap<>();
    @Nullable String key = null;
    StringBuilder value = new StringBuilder();
    for (String part : parts(where, step.group(3))) {
      Matcher argument = ARGUMENT.matcher(part.strip());
      if (argument.matches()) {
        put(where, attrs, key, value);
        key = argument.group(1);
        value.append(argument.group(2));
      } else if (key != null) {
        // A list of numbers, or a layout of several dimensions.
        value.append(',').append(part.strip());
      } else {
        inputs.add(name(where, part.strip()));
      }
    }
    put(where, attrs, key, value);
    List<String> outputs =
        step.group(1) == null
            ? List.of()
            : Arrays.stream(step.group(1).split(",", -1))
                .map(output -> name(where, output.strip()))
                .toList();
    return new Instruction(step.group(2), inputs, attrs, outputs);
  }

  /** Parts between commas that are not in quotes. */
  private static List<String> parts(String where, String arguments) {
    List<String> parts = new ArrayList<>();
    StringBuilder part = new StringBuilder();
    boolean quoted = false;
    for (char c : arguments.toCharArray()) {
      quoted ^= c == '"';
      if (c == ',' && !quoted) {
        parts.add(part.toString());
        part.setLength(0);
      } else {
        part.append(c);
      }
    }
    if (quoted) {
      throw new UserError(where + ": a quotation mark is missing");
    }
    if (!part.toString().isBlank() || !parts.isEmpty()) {
      parts.add(part.toString());
    }
    return parts;
  }

  private static void put(
      String where, SortedMap<String, Object> attrs, @Nullable String key, StringBuilder value) {
    if (key == null) {
      return;
    }
    String text = value.toString().strip();
    value.setLength(0);
    Object argument = text;
    if (text.length() > 1 && text.startsWith("\"") && text.endsWith("\"")) {
      argument = text.substring(1, text.length() - 1);
    } else if (NUMBER.matcher(text).matches() && !TEXTS.contains(key)) {
      argument = Long.valueOf(text);
    }
    if (text.isEmpty() || attrs.put(key, argument) != null) {
      throw new UserError(
          where + ": " + key + (text.isEmpty() ? " = needs a value" : " is given twice"));
    }
  }

  private static String name(String where, String name) {
    if (!NAME.matcher(name).matches()) {
      throw new UserError(where + ": '" + name + "' is no name of a loop, a block or a buffer");
    }
    return name;
  }
}
