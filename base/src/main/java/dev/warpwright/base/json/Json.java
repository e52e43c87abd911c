package dev.warpwright.base.json;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A JSON value, read by {@link JsonParser} or to be written by {@link #write}.
 *
 * <p>Numbers keep all digits that a reader needs to get the same value back. JSON has no infinities
 * and no NaN: {@link #of(double)} makes them null.
 */
public sealed interface Json {
  /** A JSON string, unescaped. */
  record Text(String value) implements Json {}

  /** A number as it is written, so that 64-bit integers stay exact. */
  record Number(String written) implements Json {}

  /** True or false. */
  record Bool(boolean value) implements Json {}

  /** The null of JSON. */
  record Null() implements Json {}

  /** A JSON array. */
  record Array(List<Json> items) implements Json {
    public Array {
      items = List.copyOf(items);
    }
  }

  /** A JSON object; members are written in the map's order. */
  record Members(Map<String, Json> members) implements Json {
    public Members {
      members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
    }

    /**
     * These members and one more.
     *
     * @throws IllegalArgumentException if there is a member of that name
     */
    public Members with(String name, Json value) {
      var more = new LinkedHashMap<>(members);
      if (more.put(name, value) != null) {
        throw new IllegalArgumentException("two members named '" + name + "'");
      }
      return new Members(more);
    }

    public Members with(String name, @Nullable String value) {
      return with(name, of(value));
    }

    public Members with(String name, long value) {
      return with(name, of(value));
    }

    public Members with(String name, double value) {
      return with(name, of(value));
    }

    public Members with(String name, boolean value) {
      return with(name, of(value));
    }
  }

  /** An object without members, to be continued by {@code with}. */
  static Members object() {
    return new Members(Map.of());
  }

  /** An array of what {@code write} makes of each item. */
  static <T> Array array(Iterable<T> items, Function<? super T, ? extends Json> write) {
    var list = new ArrayList<Json>();
    for (T item : items) {
      list.add(write.apply(item));
    }
    return new Array(list);
  }

  static Json of(@Nullable String value) {
    return value == null ? new Null() : new Text(value);
  }

  static Json of(long value) {
    return new Number(Long.toString(value));
  }

  static Json of(double value) {
    return Double.isFinite(value) ? new Number(Double.toString(value)) : new Null();
  }

  static Json of(boolean value) {
    return new Bool(value);
  }

  /** How messages call this kind of value. */
  default String kind() {
    return switch (this) {
      case Members object -> "an object";
      case Array array -> "an array";
      case Text text -> "a string";
      case Number number -> "a number";
      case Bool bool -> "a boolean";
      case Null none -> "null";
    };
  }

  /** This value in one line, without a line end. */
  default String write() {
    var out = new StringBuilder();
    append(this, out);
    return out.toString();
  }

  private static void append(Json json, StringBuilder out) {
    switch (json) {
      case Text text -> appendText(text.value(), out);
      case Number number -> out.append(number.written());
      case Bool bool -> out.append(bool.value());
      case Null none -> out.append("null");
      case Array array -> {
        String separator = "[";
        for (Json item : array.items()) {
          out.append(separator);
          append(item, out);
          separator = ", ";
        }
        out.append(array.items().isEmpty() ? "[]" : "]");
      }
      case Members object -> {
        String separator = "{";
        for (var member : object.members().entrySet()) {
          out.append(separator);
          appendText(member.getKey(), out);
          out.append(": ");
          append(member.getValue(), out);
          separator = ", ";
        }
        out.append(object.members().isEmpty() ? "{}" : "}");
      }
    }
  }

  private static void appendText(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          if (c < ' ' || c == 0x7f || isLoneSurrogate(text, i)) {
            out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }

  /** Half a character cannot be encoded in UTF-8, but it can be escaped. */
  private static boolean isLoneSurrogate(String text, int i) {
    char c = text.charAt(i);
    if (Character.isHighSurrogate(c)) {
      return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
    }
    return Character.isLowSurrogate(c)
        && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
  }
}
