package dev.warpwright.ir.text;

import dev.warpwright.ir.type.DType;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** How names look in the text form, whatever characters a model file put into them. */
final class Names {
  private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
  private static final Pattern TYPE;
  private static final int SHOWN = 40;

  static {
    StringBuilder types = new StringBuilder();
    for (DType dtype : DType.values()) {
      types.append(types.isEmpty() ? "" : "|").append(dtype.text());
    }
    TYPE = Pattern.compile("(" + types + ")(x[0-9]+)?");
  }

  private static final Set<String> RESERVED =
      Set.of(
          "primfunc",
          "kernel",
          "host",
          "program",
          "input",
          "output",
          "constant",
          "scalar",
          "workspace",
          "launch",
          "memset",
          "sharded",
          "view",
          "all_reduce",
          "for",
          "unroll",
          "vector",
          "parallel",
          "bind",
          "pipeline",
          "persistent",
          "in",
          "if",
          "else",
          "while",
          "let",
          "alloc",
          "block",
          "grid",
          "reads",
          "writes",
          "init",
          "where",
          "layout",
          "align",
          "true",
          "false",
          "spatial",
          "reduce");

  private Names() {}

  static boolean isReserved(String name) {
    return RESERVED.contains(name) || isType(name);
  }

  static boolean isType(String name) {
    return TYPE.matcher(name).matches();
  }

  /** The name as it is written: between backquotes unless it is a plain identifier. */
  static String written(String name) {
    if (IDENTIFIER.matcher(name).matches() && !isReserved(name)) {
      return name;
    }
    return '`' + escaped(name, '`') + '`';
  }

  /** A string in double quotes. */
  static String string(String text) {
    return '"' + escaped(text, '"') + '"';
  }

  /** Printable ASCII stays, everything else becomes an escape; the result is one line. */
  private static String escaped(String text, char quote) {
    StringBuilder result = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == quote || c == '\\') {
        result.append('\\').append(c);
      } else if (c == '\n') {
        result.append("\\n");
      } else if (c < ' ' || c > '~') {
        result.append(unicode(c));
      } else {
        result.append(c);
      }
    }
    return result.toString();
  }

  /**
   * The text of a comment: control characters, which would end the line or play tricks with the
   * reader, are escaped, and what looks like such an escape too.
   */
  static String comment(String text) {
    StringBuilder result = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean escape = c == '\\' && i + 1 < text.length() && text.charAt(i + 1) == 'u';
      boolean printable = Character.isDefined(c) && !isControl(c);
      result.append(escape || !printable ? unicode(c) : String.valueOf(c));
    }
    return result.toString();
  }

  private static boolean isControl(char c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED ->
          true;
      default -> false;
    };
  }

  private static String unicode(char c) {
    return String.format(Locale.ROOT, "\\u%04x", (int) c);
  }

  /** At most {@value #SHOWN} characters, one line, for error messages. */
  static String shown(String text) {
    String line = escaped(text, '\\').replace("\\\\", "\\");
    return line.length() <= SHOWN ? line : line.substring(0, SHOWN) + "…";
  }
}
