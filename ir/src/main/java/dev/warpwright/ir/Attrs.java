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
 *
 * @param values {@code Long} or {@code String} by name
 */
public record Attrs(SortedMap<String, Object> values) {
  public static final Attrs NONE = new Attrs(new TreeMap<>());

  /** What a reader is told above a function or kernel, lines separated by {@code \n}. */
  public static final String COMMENT = "comment";

  /** On a loop of which each iteration is a work item of the block, or of a part of it. */
  public static final String ITEMS = "items";

  /** On a loop in front of which pointers are made of what does not change in it. */
  public static final String POINTERS = "pointers";

  /** Copies the map and checks its values. */
  public Attrs {
    for (Map.Entry<String, Object> entry : values.entrySet()) {
      if (!(entry.getValue() instanceof Long) && !(entry.getValue() instanceof String)) {
        throw new IllegalArgumentException(
            "attribute " + entry.getKey() + " is neither Long nor String");
      }
    }
    values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
  }

  /**
   * {@return these attributes and one more, or one replaced}
   *
   * @param name of the attribute
   * @param value its integer
   */
  public Attrs with(String name, long value) {
    return put(name, value);
  }

  /**
   * {@return these attributes and one more, or one replaced}
   *
   * @param name of the attribute
   * @param value its string
   */
  public Attrs with(String name, String value) {
    return put(name, value);
  }

  /**
   * {@return these attributes and others, which win where both have a name}
   *
   * @param others that win
   */
  public Attrs with(Attrs others) {
    TreeMap<String, Object> copy = new TreeMap<>(values);
    copy.putAll(others.values);
    return new Attrs(copy);
  }

  /**
   * {@return these attributes but the one of this name}
   *
   * @param name of the attribute, which need not be there
   */
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

  /** {@return whether there is no attribute} */
  public boolean isEmpty() {
    return values.isEmpty();
  }

  /**
   * {@return whether there is an attribute of this name, of either type}
   *
   * @param name of the attribute
   */
  public boolean has(String name) {
    return values.containsKey(name);
  }

  /**
   * {@return the integer of this name, or {@code otherwise} when there is none}
   *
   * @param name of the attribute
   * @param otherwise the answer without one
   */
  public long getLong(String name, long otherwise) {
    return values.get(name) instanceof Long value ? value : otherwise;
  }

  /**
   * {@return the string of this name, or null}
   *
   * @param name of the attribute
   */
  public @Nullable String getString(String name) {
    return values.get(name) instanceof String value ? value : null;
  }
}
