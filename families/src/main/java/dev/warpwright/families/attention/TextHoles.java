package dev.warpwright.families.attention;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** A tile program as text with holes, which begin with a dollar; what fills one may have others. */
final class TextHoles {
  /** Longer names first: $TM is no $T. */
  private final Map<String, String> values =
      new TreeMap<>(Comparator.comparingInt(String::length).reversed().thenComparing(name -> name));

  void put(String name, Object value) {
    values.put(name, String.valueOf(value));
  }

  /** What fills a hole. */
  String get(String name) {
    return Objects.requireNonNull(values.get(name), name);
  }

  /** The text without holes. */
  String filled(String text) {
    String result = text;
    String before;
    do {
      before = result;
      for (Map.Entry<String, String> value : values.entrySet()) {
        result = result.replace("$" + value.getKey(), value.getValue());
      }
    } while (!result.equals(before));
    return result;
  }

  PrimFunc parse(String name, String text) {
    put("NAME", name);
    return new IrParser(Intrinsics::find).primFunc(name, filled(text));
  }
}
