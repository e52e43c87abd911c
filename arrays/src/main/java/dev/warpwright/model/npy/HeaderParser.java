package dev.warpwright.model.npy;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parses the header of an array file: a Python dictionary literal with exactly the keys {@code
 * descr}, {@code fortran_order} and {@code shape}. Only the forms that NumPy writes are accepted.
 */
final class HeaderParser {
  private static final int MAX_RANK = 64;

  /** What is wrong with a header; the caller adds the file. */
  static final class BadHeader extends Exception {
    private static final long serialVersionUID = 1L;

    BadHeader(String message) {
      super(message);
    }
  }

  record Header(String descr, boolean fortranOrder, List<Long> shape) {}

  private final String text;
  private int at;

  private HeaderParser(String text) {
    this.text = text;
  }

  static Header parse(String text) throws BadHeader {
    return new HeaderParser(text).dictionary();
  }

  private Header dictionary() throws BadHeader {
    @Nullable String descr = null;
    @Nullable Boolean fortranOrder = null;
    @Nullable List<Long> shape = null;
    expect('{');
    while (!accept('}')) {
      String key = string();
      expect(':');
      switch (key) {
        case "descr" -> {
          checkNew(descr, key);
          if (peek() == '[') {
            throw new BadHeader("arrays with named fields are not supported");
          }
          descr = string();
        }
        case "fortran_order" -> {
          checkNew(fortranOrder, key);
          fortranOrder = bool();
        }
        case "shape" -> {
          checkNew(shape, key);
          shape = tuple();
        }
        default -> throw new BadHeader("its header has an unknown key");
      }
      if (peek() != '}') {
        expect(',');
      }
    }
    skipSpace();
    if (at != text.length()) {
      throw new BadHeader("its header goes on after the closing brace");
    }
    if (descr == null || fortranOrder == null || shape == null) {
      throw new BadHeader("its header lacks descr, fortran_order or shape");
    }
    return new Header(descr, fortranOrder, shape);
  }

  private static void checkNew(@Nullable Object before, String key) throws BadHeader {
    if (before != null) {
      throw new BadHeader("its header has " + key + " twice");
    }
  }

  private String string() throws BadHeader {
    char quote = peek();
    if (quote != '\'' && quote != '"') {
      throw unexpected();
    }
    int end = text.indexOf(quote, at + 1);
    if (end < 0 || text.substring(at, end).indexOf('\\') >= 0) {
      throw new BadHeader("its header has a malformed string");
    }
    String value = text.substring(at + 1, end);
    at = end + 1;
    return value;
  }

  private boolean bool() throws BadHeader {
    peek();
    for (String word : List.of("True", "False")) {
      if (text.startsWith(word, at)) {
        at += word.length();
        return word.equals("True");
      }
    }
    throw unexpected();
  }

  private List<Long> tuple() throws BadHeader {
    List<Long> dims = new ArrayList<>();
    boolean comma = false;
    expect('(');
    while (!accept(')')) {
      if (!dims.isEmpty() && !comma) {
        throw unexpected();
      }
      if (dims.size() == MAX_RANK) {
        throw new BadHeader("it has more than " + MAX_RANK + " dimensions");
      }
      dims.add(number());
      comma = accept(',');
    }
    if (dims.size() == 1 && !comma) {
      throw new BadHeader("its shape is a number, not a tuple");
    }
    return dims;
  }

  private long number() throws BadHeader {
    peek();
    int start = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    if (start == at) {
      throw unexpected();
    }
    try {
      long value = Long.parseLong(text, start, at, 10);
      accept('L'); // Python 2 wrote 3L
      return value;
    } catch (NumberFormatException e) {
      throw new BadHeader("its shape is too large");
    }
  }

  /** The next character that is no space. */
  private char peek() throws BadHeader {
    skipSpace();
    if (at == text.length()) {
      throw new BadHeader("its header ends too early");
    }
    return text.charAt(at);
  }

  private void skipSpace() {
    while (at < text.length() && " \t\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private boolean accept(char c) throws BadHeader {
    if (peek() != c) {
      return false;
    }
    at++;
    return true;
  }

  private void expect(char c) throws BadHeader {
    if (!accept(c)) {
      throw unexpected();
    }
  }

  private BadHeader unexpected() {
    return new BadHeader("its header is malformed at character " + at);
  }
}
