package dev.warpwright.base.json;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses one JSON document, strictly: no comments, no trailing commas, no key twice in an object.
 * Depth and number of values are bounded, since the text may be hostile.
 */
public final class JsonParser {
  private static final int MAX_DEPTH = 32;
  private static final int MAX_VALUES = 1_000_000;
  private static final int MAX_NUMBER = 40;
  private static final int MAX_SHOWN = 60;
  private static final Pattern NUMBER =
      Pattern.compile("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");

  private final String where;
  private final String text;
  private int at;
  private int depth;
  private int values;

  private JsonParser(String where, String text) {
    this.where = where;
    this.text = text;
  }

  /**
   * Parses a document.
   *
   * @param where what messages begin with, printable
   * @throws UserError if the text is no JSON document, or beyond the bounds
   */
  public static Json parse(String where, String text) {
    JsonParser parser = new JsonParser(where, text);
    Json value = parser.value();
    parser.skipSpace();
    if (parser.at < text.length()) {
      throw parser.error("it goes on after its end");
    }
    return value;
  }

  private Json value() {
    if (++values > MAX_VALUES) {
      throw error("more than " + MAX_VALUES + " values");
    }
    return switch (peek()) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> new Json.Text(string());
      case 't' -> word("true", new Json.Bool(true));
      case 'f' -> word("false", new Json.Bool(false));
      case 'n' -> word("null", new Json.Null());
      default -> number();
    };
  }

  private Json object() {
    enter();
    Map<String, Json> members = new LinkedHashMap<>();
    at++;
    if (!accept('}')) {
      do {
        if (peek() != '"') {
          throw error("a key in quotes is missing");
        }
        String key = string();
        if (!accept(':')) {
          throw error("':' is missing");
        }
        if (members.put(key, value()) != null) {
          throw error("key " + shown(key) + " twice");
        }
      } while (accept(','));
      close('}');
    }
    depth--;
    return new Json.Members(members);
  }

  /** A key in messages: escaped, and cut if it is long. */
  private static String shown(String key) {
    String text = key.length() > MAX_SHOWN ? key.substring(0, MAX_SHOWN) + "…" : key;
    String written = Json.of(text).write();
    return "'" + written.substring(1, written.length() - 1) + "'";
  }

  private Json array() {
    enter();
    List<Json> elements = new ArrayList<>();
    at++;
    if (!accept(']')) {
      do {
        elements.add(value());
      } while (accept(','));
      close(']');
    }
    depth--;
    return new Json.Array(elements);
  }

  private void enter() {
    if (++depth > MAX_DEPTH) {
      throw error("nested deeper than " + MAX_DEPTH);
    }
  }

  private void close(char end) {
    if (!accept(end)) {
      throw error("',' or '" + end + "' is missing");
    }
  }

  private Json word(String word, Json value) {
    if (!text.startsWith(word, at)) {
      throw error("no value");
    }
    at += word.length();
    return value;
  }

  private Json number() {
    Matcher matcher = NUMBER.matcher(text).region(at, Math.min(text.length(), at + MAX_NUMBER));
    if (!matcher.lookingAt()) {
      throw error("no value");
    }
    at = matcher.end();
    if (at < text.length() && "0123456789.eE+-".indexOf(text.charAt(at)) >= 0) {
      throw error("a malformed number, or one of more than " + MAX_NUMBER + " characters");
    }
    return new Json.Number(matcher.group());
  }

  private String string() {
    int start = ++at;
    while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\') {
      checkCharacter(text.charAt(at++));
    }
    if (at < text.length() && text.charAt(at) == '"') {
      return text.substring(start, at++);
    }
    StringBuilder out = new StringBuilder(text.substring(start, at));
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        return out.toString();
      }
      checkCharacter(c);
      out.append(c == '\\' ? escaped() : c);
    }
    throw error("a string does not end");
  }

  private void checkCharacter(char c) {
    if (c < ' ') {
      throw error("a control character in a string");
    }
  }

  private char escaped() {
    char c = at < text.length() ? text.charAt(at++) : 0;
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> unicode();
      default -> throw error("an unknown escape");
    };
  }

  private char unicode() {
    int code = 0;
    for (int i = 0; i < 4; i++) {
      int digit = at < text.length() ? "0123456789abcdef".indexOf(lower(text.charAt(at++))) : -1;
      if (digit < 0) {
        throw error("\\u needs four hexadecimal digits");
      }
      code = code * 16 + digit;
    }
    return (char) code;
  }

  private static char lower(char c) {
    return c >= 'A' && c <= 'F' ? (char) (c - 'A' + 'a') : c;
  }

  /** The next character that is no space. */
  private char peek() {
    skipSpace();
    if (at == text.length()) {
      throw error("it ends too early");
    }
    return text.charAt(at);
  }

  private boolean accept(char c) {
    if (peek() != c) {
      return false;
    }
    at++;
    return true;
  }

  private void skipSpace() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private UserError error(String what) {
    return new UserError(where + ": malformed JSON at character " + at + ": " + what);
  }
}
