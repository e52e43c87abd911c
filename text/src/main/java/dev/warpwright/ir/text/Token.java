package dev.warpwright.ir.text;

/**
 * A piece of text.
 *
 * @param text a name without quotes, a number without its suffix, a string or comment without
 *     delimiters and escapes
 * @param suffix the type after a number, else empty
 * @param line from 1
 * @param column from 1
 * @param offset of the first character in the whole text
 */
record Token(Kind kind, String text, String suffix, int line, int column, int offset) {
  enum Kind {
    NAME,
    /** A name between backquotes, which is never a keyword. */
    QUOTED,
    INT,
    FLOAT,
    STRING,
    SYMBOL,
    /** A comment that has its line to itself. */
    COMMENT,
    END
  }

  boolean is(String expected) {
    return (kind == Kind.NAME || kind == Kind.SYMBOL) && text.equals(expected);
  }

  /** What an error message calls it: one short line. */
  String found() {
    return switch (kind) {
      case END -> "the end of the text";
      case STRING -> '"' + Names.shown(text) + '"';
      case COMMENT -> "a comment";
      case NAME, QUOTED, INT, FLOAT, SYMBOL -> '\'' + Names.shown(text + suffix) + '\'';
    };
  }
}
