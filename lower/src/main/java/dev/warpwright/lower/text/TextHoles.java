package dev.warpwright.lower.text;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** A tile program as text with holes, which begin with a dollar; what fills one may have others. */
public final class TextHoles {
  /** Longer names first: $TM is no $T. */
  private final Map<String, String> values =
      new TreeMap<>(Comparator.comparingInt(String::length).reversed().thenComparing(name -> name));

  /** Fills a hole. */
  public void put(String name, Object value) {
    values.put(name, String.valueOf(value));
  }

  /** What fills a hole. */
  public String get(String name) {
    return Objects.requireNonNull(values.get(name), name);
  }

  /** The text without holes. */
  public String filled(String text) {
    StringBuilder result = new StringBuilder();
    int done = 0;
    for (int hole = text.indexOf('$'); hole >= 0; hole = text.indexOf('$', done)) {
      result.append(text, done, hole);
      String name = nameAt(text, hole + 1);
      result.append(filled(get(name)));
      done = hole + 1 + name.length();
    }
    return result.append(text, done, text.length()).toString();
  }

  /** The longest name that stands there. */
  private String nameAt(String text, int begin) {
    for (String name : values.keySet()) {
      if (text.startsWith(name, begin)) {
        return name;
      }
    }
    throw new IllegalArgumentException("no hole: " + text.substring(begin));
  }

  /** The tile program of the text, whose hole {@code $NAME} is its name. */
  public PrimFunc parse(String name, String text) {
    put("NAME", name);
    return new IrParser(Intrinsics::find).primFunc(name, filled(text));
  }
}
