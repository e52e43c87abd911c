package dev.warpwright.schedule.error;

import java.io.Console;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Colours for the text form on a terminal. */
public final class Highlight {
  private static final String RESET = "\u001b[0m";
  private static final String KEYWORD = "\u001b[35m";
  private static final String TYPE = "\u001b[36m";
  private static final String NUMBER = "\u001b[33m";
  private static final String TEXT = "\u001b[32m";
  private static final String COMMENT = "\u001b[90m";

  private static final Pattern TOKENS =
      Pattern.compile(
          "(?<comment>//[^\n]*)"
              + "|(?<text>\"(?:[^\"\\\\]|\\\\.)*\"|`(?:[^`\\\\]|\\\\.)*`)"
              + "|(?<type>\\b(?:global|shared(?:\\.cluster)?|local|fragment"
              + "|(?:i|u|f|bf|tf)\\d+(?:e\\dm\\d)?(?:x\\d+)?|bool)\\b)"
              + "|(?<keyword>\\b(?:primfunc|kernel|host|program|for|in|unroll|vector|parallel"
              + "|pipeline|persistent|bind|block|where|reads|writes|init|alloc|let|if|else|while"
              + "|layout|align|spatial|reduce|tile\\.\\w+|blockIdx\\.\\w|threadIdx\\.\\w)\\b)"
              + "|(?<number>\\b0x[0-9A-Fa-f]+\\b|\\b\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?\\w*)"
              + "|(?<name>[A-Za-z_]\\w*)");

  private Highlight() {}

  /** {@return whether standard output is a terminal of someone who did not ask for no colours} */
  public static boolean isWanted() {
    Console console = System.console();
    return console != null && console.isTerminal() && System.getenv("NO_COLOR") == null;
  }

  /**
   * {@return the text with escape sequences for colours; without them it is the same again}
   *
   * @param text of a program
   */
  public static String ansi(String text) {
    Matcher matcher = TOKENS.matcher(text);
    StringBuilder out = new StringBuilder();
    while (matcher.find()) {
      String colour = colour(matcher);
      String token = matcher.group();
      matcher.appendReplacement(
          out, Matcher.quoteReplacement(colour.isEmpty() ? token : colour + token + RESET));
    }
    return matcher.appendTail(out).toString();
  }

  private static String colour(Matcher token) {
    if (token.group("comment") != null) {
      return COMMENT;
    }
    if (token.group("text") != null) {
      return TEXT;
    }
    if (token.group("type") != null) {
      return TYPE;
    }
    if (token.group("keyword") != null) {
      return KEYWORD;
    }
    return token.group("number") != null ? NUMBER : "";
  }
}
