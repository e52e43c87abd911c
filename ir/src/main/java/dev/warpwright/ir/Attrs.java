package dev.warpwright.ir;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Named annotations of a loop, a block, a tile statement, a function or a kernel: integers ({@code
 * Long}) and strings, in the order of their names. They carry decisions, never meaning: dropping
 * one may change speed, not results.
 */
public record Attrs(SortedMap<String, Object> values) {
  public static final Attrs NONE = new Attrs(new TreeMap<>());

  /** What a reader is told above a function or kernel, lines separated by {@code \n}. */
  public static final String COMMENT = "comment";

  public Attrs {
    for (Map.Entry<String, Object> entry : values.entrySet()) {
      if (!(entry.getValue() instanceof Long) && !(entry.getValue() instanceof String)) {
        throw new IllegalArgumentException(
            "attribute " + entry.getKey() + " is neither Long nor String");
      }
    }
    values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
  }

  /** These attributes and one more, or one replaced. */
  public Attrs with(String name, long value) {
    return put(name, value);
  }

  /** These attributes and one more, or one replaced. */
  public Attrs with(String name, String value) {
    return put(name, value);
  }

  /** These attributes and others, which win where both have a name. */
  public Attrs with(Attrs others) {
    TreeMap<String, Object> copy = new TreeMap<>(values);
    copy.putAll(others.values);
    return new Attrs(copy);
  }

  /** These attributes but the one of this name. */
  public Attrs without(String name) {
    if (!has(name)) {
      return this;
    }
    TreeMap<String, Object> copy = new TreeMap<>(values);
    copy.remove(name);
    return new Attrs(copy);
  }

  private Attrs put(String name, Object value) {
    TreeMap<String, Object> copy = new TreeMap<>(values);
    copy.put(name, value);
    return new Attrs(copy);
  }

  public boolean isEmpty() {
    return values.isEmpty();
  }

  public boolean has(String name) {
    return values.containsKey(name);
  }

  /** The integer of this name, or {@code otherwise} when there is none. */
  public long getLong(String name, long otherwise) {
    return values.get(name) instanceof Long value ? value : otherwise;
  }

  /** The string of this name, or null. */
  public @Nullable String getString(String name) {
    return values.get(name) instanceof String value ? value : null;
  }
}
