package dev.warpwright.schedule.trace;

import dev.warpwright.ir.UserError;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The text form of a trace: a JSON array of objects {@code {"op": …, "in": […], "attrs": {…},
 * "out": […]}} with strings and integers as leaves, so a small reader does.
 */
final class TraceJson {
  private final String text;
  private int at;

  private TraceJson(String text) {
    this.text = text;
  }

  static String write(Trace trace) {
    StringBuilder out = new StringBuilder("[");
    String separator = "\n";
    for (Instruction x : trace.instructions()) {
      out.append(separator).append("  {\"op\": ");
      string(out, x.op());
      out.append(", \"in\": ");
      strings(out, x.inputs());
      out.append(", \"attrs\": {");
      String comma = "";
      for (Map.Entry<String, Object> attr : x.attrs().entrySet()) {
        out.append(comma);
        string(out, attr.getKey());
        out.append(": ");
        if (attr.getValue() instanceof String s) {
          string(out, s);
        } else {
          out.append(attr.getValue());
        }
        comma = ", ";
      }
      out.append("}, \"out\": ");
      strings(out, x.outputs());
      out.append('}');
      separator = ",\n";
    }
    return out.append("\n]\n").toString();
  }

  private static void strings(StringBuilder out, List<String> list) {
    out.append('[');
    String comma = "";
    for (String s : list) {
      out.append(comma);
      string(out, s);
      comma = ", ";
    }
    out.append(']');
  }

  private static void string(StringBuilder out, String s) {
    out.append('"');
    for (char c : s.toCharArray()) {
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < 0x20 || c > 0x7e) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  static Trace read(String text) {
    TraceJson reader = new TraceJson(text);
    List<Instruction> instructions = new ArrayList<>();
    if (!(reader.value() instanceof List<?> list)) {
      throw reader.error("a trace is an array");
    }
    reader.space();
    if (reader.at < text.length()) {
      throw reader.error("there is more after the array");
    }
    for (Object element : list) {
      if (!(element instanceof Map<?, ?> object)
          || !(object.get("op") instanceof String op)
          || !(object.get("attrs") instanceof Map<?, ?> attrs)) {
        throw new UserError("trace: an instruction lacks \"op\" or \"attrs\"");
      }
      SortedMap<String, Object> arguments = new TreeMap<>();
      attrs.forEach((key, value) -> arguments.put((String) key, leaf(value)));
      instructions.add(
          new Instruction(
              op,
              names(op, "in", object.get("in")),
              arguments,
              names(op, "out", object.get("out"))));
    }
    return new Trace(instructions);
  }

  private static Object leaf(Object value) {
    if (value instanceof Long || value instanceof String) {
      return value;
    }
    throw new UserError("trace: an argument is neither an integer nor a string");
  }

  private static List<String> names(String op, String key, @Nullable Object value) {
    List<String> names = new ArrayList<>();
    if (!(value instanceof List<?> list)) {
      throw new UserError("trace: " + op + " lacks \"" + key + "\"");
    }
    for (Object element : list) {
      if (!(element instanceof String name)) {
        throw new UserError("trace: \"" + key + "\" of " + op + " has something else than names");
      }
      names.add(name);
    }
    return names;
  }

  // --- reading

  private Object value() {
    space();
    if (at >= text.length()) {
      throw error("the text ends too early");
    }
    return switch (text.charAt(at)) {
      case '[' -> array();
      case '{' -> object();
      case '"' -> string();
      default -> integer();
    };
  }

  private List<Object> array() {
    List<Object> elements = new ArrayList<>();
    expect('[');
    if (!take(']')) {
      do {
        elements.add(value());
      } while (take(','));
      expect(']');
    }
    return elements;
  }

  private Map<String, Object> object() {
    Map<String, Object> members = new TreeMap<>();
    expect('{');
    if (!take('}')) {
      do {
        space();
        String key = string();
        expect(':');
        members.put(key, value());
      } while (take(','));
      expect('}');
    }
    return members;
  }

  private String string() {
    expect('"');
    StringBuilder out = new StringBuilder();
    while (at < text.length() && text.charAt(at) != '"') {
      char c = text.charAt(at++);
      if (c != '\\') {
        out.append(c);
        continue;
      }
      char escaped = at < text.length() ? text.charAt(at++) : ' ';
      switch (escaped) {
        case '"', '\\', '/' -> out.append(escaped);
        case 'n' -> out.append('\n');
        case 't' -> out.append('\t');
        case 'r' -> out.append('\r');
        case 'b' -> out.append('\b');
        case 'f' -> out.append('\f');
        case 'u' -> {
          if (at + 4 > text.length()) {
            throw error("the text ends too early");
          }
          try {
            out.append((char) Integer.parseInt(text, at, at + 4, 16));
          } catch (NumberFormatException e) {
            throw error("no character \\u" + text.substring(at, at + 4));
          }
          at += 4;
        }
        default -> throw error("no escape \\" + escaped);
      }
    }
    expect('"');
    return out.toString();
  }

  private Long integer() {
    int start = at;
    while (at < text.length() && "+-0123456789.eE".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    try {
      return Long.valueOf(text.substring(start, at));
    } catch (NumberFormatException e) {
      at = start;
      throw error("a string, an integer, an array or an object is expected");
    }
  }

  private void space() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private boolean take(char c) {
    space();
    if (at < text.length() && text.charAt(at) == c) {
      at++;
      return true;
    }
    return false;
  }

  private void expect(char c) {
    if (!take(c)) {
      throw error("'" + c + "' is expected");
    }
  }

  private UserError error(String what) {
    return new UserError("trace: " + what + " at character " + at);
  }
}
