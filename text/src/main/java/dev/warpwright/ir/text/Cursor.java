package dev.warpwright.ir.text;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** A place among the tokens, and the errors that are reported there. */
final class Cursor {
  /** Braces and parentheses inside each other; far below what the stack holds. */
  private static final int NESTING = 200;

  private final String file;
  private final List<Token> tokens;
  private int at;
  private int nesting;

  Cursor(String file, String text) {
    this.file = file;
    this.tokens = Lexer.tokens(file, text);
  }

  /** The next token that is no comment. */
  Token peek() {
    return tokens.get(afterComments(at));
  }

  /** The next token, which may be a comment. */
  Token peekWithComments() {
    return tokens.get(at);
  }

  /** The token after {@link #peek}. */
  Token peekSecond() {
    int next = Math.min(afterComments(at) + 1, tokens.size() - 1);
    return tokens.get(afterComments(next));
  }

  Token next() {
    at = afterComments(at);
    Token token = tokens.get(at);
    if (token.kind() != Token.Kind.END) {
      at++;
    }
    return token;
  }

  /** Takes the comment that {@link #peekWithComments} showed. */
  Token nextComment() {
    return tokens.get(at++);
  }

  /** Takes the comments before {@link #peek}, a line each. */
  List<String> nextComments() {
    List<String> lines = new ArrayList<>();
    while (peekWithComments().kind() == Token.Kind.COMMENT) {
      lines.add(nextComment().text());
    }
    return lines;
  }

  /** Where {@link #peek} is. */
  int position() {
    return afterComments(at);
  }

  void goTo(int position) {
    at = position;
  }

  private int afterComments(int from) {
    int index = from;
    while (tokens.get(index).kind() == Token.Kind.COMMENT) {
      index++;
    }
    return index;
  }

  boolean isAt(String text) {
    return peek().is(text);
  }

  boolean accept(String text) {
    boolean found = isAt(text);
    if (found) {
      next();
    }
    return found;
  }

  Token expect(String text) {
    if (!isAt(text)) {
      throw expected("'" + text + "'");
    }
    return next();
  }

  /** A name, quoted or not, but no keyword. */
  Token expectName(String what) {
    Token token = peek();
    boolean plain =
        token.kind() == Token.Kind.NAME
            && !Names.isReserved(token.text())
            && token.text().indexOf('.') < 0;
    if (!plain && token.kind() != Token.Kind.QUOTED) {
      throw expected(what);
    }
    return next();
  }

  /** A whole number with an optional sign. */
  long expectInteger(String what) {
    Token sign = peek();
    boolean negative = accept("-");
    Token token = peek();
    if (token.kind() != Token.Kind.INT || !token.suffix().isEmpty()) {
      throw expected(what);
    }
    next();
    return integer(token, negative, sign);
  }

  /** The value of an integer token. */
  long integer(Token token, boolean negative, Token where) {
    boolean hex = token.text().startsWith("0x");
    String digits = hex ? token.text().substring(2) : token.text();
    try {
      return Long.parseLong((negative ? "-" : "") + digits, hex ? 16 : 10);
    } catch (NumberFormatException e) {
      throw error(where, "the number " + token.found() + " does not fit into 64 bits");
    }
  }

  int expectInt(String what) {
    Token token = peek();
    long value = expectInteger(what);
    if (value != (int) value) {
      throw error(token, "expected " + what + ", found a number that does not fit into 32 bits");
    }
    return (int) value;
  }

  UserError expected(String what) {
    return error(peek(), "expected " + what + ", found " + peek().found());
  }

  UserError error(Token token, String message) {
    return new UserError(file + ":" + token.line() + ":" + token.column() + ": " + message);
  }

  /** Makes a node; what its constructor refuses is an error at the token. */
  <T> T make(Token token, Supplier<T> constructor) {
    try {
      return constructor.get();
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw error(token, String.valueOf(e.getMessage()).replaceAll("\\s+", " "));
    }
  }

  /** Goes one level deeper; to be undone by {@link #leave}. */
  void enter() {
    if (++nesting > NESTING) {
      throw error(peek(), "nested more than " + NESTING + " levels deep");
    }
  }

  void leave() {
    nesting--;
  }
}
