package dev.warpwright.ir.text;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.List;

/** Cuts text into tokens. */
final class Lexer {
  private static final String[] SYMBOLS = {
    "..", "+:", "+=", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "(", ")", "[", "]", "{", "}",
    ",", ";", ":", "=", "+", "-", "*", "/", "%", "<", ">", "!", "~", "&", "|", "^"
  };

  private final String file;
  private final String text;
  private final List<Token> tokens = new ArrayList<>();
  private int at;
  private int line = 1;
  private int lineStart;

  private Lexer(String file, String text) {
    this.file = file;
    this.text = text;
  }

  static List<Token> tokens(String file, String text) {
    return new Lexer(file, text).run();
  }

  private List<Token> run() {
    while (true) {
      skipSpace();
      if (at >= text.length()) {
        add(Token.Kind.END, "", "", at);
        return tokens;
      }
      char c = text.charAt(at);
      if (text.startsWith("//", at)) {
        comment();
      } else if (isLetter(c)) {
        name();
      } else if (isDigit(c)) {
        number();
      } else if (c == '`') {
        quoted('`', Token.Kind.QUOTED);
      } else if (c == '"') {
        quoted('"', Token.Kind.STRING);
      } else {
        symbol();
      }
    }
  }

  private void skipSpace() {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '\n') {
        line++;
        lineStart = at + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
      at++;
    }
  }

  private void add(Token.Kind kind, String content, String suffix, int start) {
    tokens.add(new Token(kind, content, suffix, line, start - lineStart + 1, start));
  }

  private UserError error(int offset, String message) {
    return new UserError(file + ":" + line + ":" + (offset - lineStart + 1) + ": " + message);
  }

  private char peek(int ahead) {
    return at + ahead < text.length() ? text.charAt(at + ahead) : '\0';
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private static boolean isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

  private void comment() {
    int start = at;
    int end = text.indexOf('\n', at);
    end = end < 0 ? text.length() : end;
    at = end;
    boolean alone = text.substring(lineStart, start).isBlank();
    if (alone) {
      int last = end > start + 2 && text.charAt(end - 1) == '\r' ? end - 1 : end;
      int first = start + 2 < last && text.charAt(start + 2) == ' ' ? start + 3 : start + 2;
      add(Token.Kind.COMMENT, unescapedComment(text.substring(first, last)), "", start);
    }
  }

  private static String unescapedComment(String raw) {
    StringBuilder result = new StringBuilder();
    for (int i = 0; i < raw.length(); i++) {
      int code = raw.startsWith("\\u", i) ? hex(raw, i + 2) : -1;
      if (code >= 0) {
        result.append((char) code);
        i += 5;
      } else {
        result.append(raw.charAt(i));
      }
    }
    return result.toString();
  }

  /** Four hexadecimal digits as a number, -1 if they are not there. */
  private static int hex(String raw, int from) {
    if (from + 4 > raw.length()) {
      return -1;
    }
    int code = 0;
    for (int i = from; i < from + 4; i++) {
      int digit = Character.digit(raw.charAt(i), 16);
      if (digit < 0) {
        return -1;
      }
      code = code * 16 + digit;
    }
    return code;
  }

  /** Names may have parts joined by dots: {@code ldmatrix.x4}, {@code blockIdx.x}. */
  private void name() {
    int start = at;
    do {
      at++;
    } while (isLetter(peek(0))
        || isDigit(peek(0))
        || (peek(0) == '.' && (isLetter(peek(1)) || isDigit(peek(1)))));
    add(Token.Kind.NAME, text.substring(start, at), "", start);
  }

  private void number() {
    int start = at;
    Token.Kind kind = Token.Kind.INT;
    if (peek(0) == '0' && peek(1) == 'x') {
      at += 2;
      while (Character.digit(peek(0), 16) >= 0) {
        at++;
      }
      add(kind, text.substring(start, at), "", start);
      return;
    }
    digits();
    if (peek(0) == '.' && isDigit(peek(1))) {
      kind = Token.Kind.FLOAT;
      at++;
      digits();
    }
    int sign = peek(1) == '-' || peek(1) == '+' ? 1 : 0;
    if ((peek(0) == 'e' || peek(0) == 'E') && isDigit(peek(1 + sign))) {
      kind = Token.Kind.FLOAT;
      at += 1 + sign;
      digits();
    }
    int end = at;
    while (isLetter(peek(0)) || isDigit(peek(0))) {
      at++;
    }
    add(kind, text.substring(start, end), text.substring(end, at), start);
  }

  private void digits() {
    while (isDigit(peek(0))) {
      at++;
    }
  }

  private void quoted(char quote, Token.Kind kind) {
    int start = at++;
    StringBuilder content = new StringBuilder();
    while (true) {
      char c = peek(0);
      if (at >= text.length() || c == '\n') {
        throw error(start, "expected " + quote + " at the end of this, found the end of the line");
      }
      at++;
      if (c == quote) {
        add(kind, content.toString(), "", start);
        return;
      }
      if (c == '\\') {
        char escape = peek(0);
        int code = escape == 'u' ? hex(text, at + 1) : -1;
        if (code >= 0) {
          content.append((char) code);
          at += 5;
          continue;
        }
        if (escape != 'n' && escape != '\\' && escape != '"' && escape != '`') {
          throw error(at - 1, "expected one of \\n \\\\ \\\" \\` \\uXXXX, found another escape");
        }
        content.append(escape == 'n' ? '\n' : escape);
        at++;
      } else {
        content.append(c);
      }
    }
  }

  private void symbol() {
    for (String symbol : SYMBOLS) {
      if (text.startsWith(symbol, at)) {
        add(Token.Kind.SYMBOL, symbol, "", at);
        at += symbol.length();
        return;
      }
    }
    int end = text.offsetByCodePoints(at, 1);
    throw error(at, "unexpected character '" + Names.shown(text.substring(at, end)) + "'");
  }
}
