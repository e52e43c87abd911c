package dev.warpwright.cli.hostile;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Changes text token by token and line by line, so that most of it still means something. */
final class TextMutator {
  private static final Pattern TOKEN =
      Pattern.compile("[\\p{L}_][\\w.]*|\\d[\\w.]*|\"[^\"\\n]*\"|\\s+|.", Pattern.DOTALL);
  private static final List<String> TYPES =
      List.of(
          "i8",
          "u8",
          "i16",
          "i32",
          "u32",
          "i64",
          "u64",
          "f16",
          "bf16",
          "f32",
          "f64",
          "bool",
          "handle",
          "e4m3",
          "e5m2",
          "f32x4",
          "i32x0",
          "bf16x8",
          "b1",
          "tf32",
          "f32x1000000000");
  private static final List<String> SYMBOLS =
      List.of("+", "-", "*", "/", "%", "<", ">", "=", "(", ")", "[", "]", "{", "}", ",", ":", ".");

  private TextMutator() {}

  /**
   * Text with one to four changes.
   *
   * @param small whether numbers stay small, where what is made runs
   */
  static String mutate(Random random, String text, boolean small) {
    String result = text;
    for (int i = random.nextInt(4); i >= 0; i--) {
      result = random.nextInt(4) == 0 ? lines(random, result) : tokens(random, result, small);
    }
    return result;
  }

  private static String lines(Random random, String text) {
    List<String> lines = new ArrayList<>(List.of(text.split("\n", -1)));
    int from = random.nextInt(lines.size());
    int to = Math.min(lines.size(), from + 1 + random.nextInt(6));
    List<String> part = List.copyOf(lines.subList(from, to));
    switch (random.nextInt(4)) {
      case 0 -> lines.subList(from, to).clear();
      case 1 -> lines.addAll(to, part);
      case 2 -> {
        lines.subList(from, to).clear();
        lines.addAll(random.nextInt(lines.size() + 1), part);
      }
      default -> Collections.swap(lines, from, random.nextInt(lines.size()));
    }
    return String.join("\n", lines);
  }

  private static String tokens(Random random, String text, boolean small) {
    List<String> tokens = new ArrayList<>();
    Matcher matcher = TOKEN.matcher(text);
    while (matcher.find()) {
      tokens.add(matcher.group());
    }
    if (tokens.isEmpty()) {
      return Odd.word(random);
    }
    int at = any(random, tokens);
    String token = tokens.get(at);
    switch (random.nextInt(10)) {
      case 0 -> tokens.remove(at);
      case 1 -> tokens.add(at, token);
      case 2 -> Collections.swap(tokens, at, any(random, tokens));
      case 3 -> tokens.set(at, tokens.get(any(random, tokens)));
      case 4 -> tokens.set(at, Odd.of(random, TYPES));
      case 5 -> tokens.set(at, Odd.of(random, SYMBOLS));
      case 6 -> tokens.set(at, Odd.word(random));
      case 7 -> {
        if (random.nextInt(20) == 0) {
          tokens.set(at, token.repeat(1 + random.nextInt(20_000)));
        }
      }
      default -> {
        long number = small ? Odd.small(random) : Odd.number(random);
        tokens.set(digits(random, tokens, at), Long.toString(number));
      }
    }
    return String.join("", tokens);
  }

  /** A token that is no space. */
  private static int any(Random random, List<String> tokens) {
    int at = random.nextInt(tokens.size());
    for (int i = 0; i < 5 && tokens.get(at).isBlank(); i++) {
      at = random.nextInt(tokens.size());
    }
    return at;
  }

  private static int digits(Random random, List<String> tokens, int otherwise) {
    for (int i = 0; i < 40; i++) {
      int at = random.nextInt(tokens.size());
      if (Character.isDigit(tokens.get(at).charAt(0))) {
        return at;
      }
    }
    return otherwise;
  }
}
