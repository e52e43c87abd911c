package dev.warpwright.model.weights;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the pickle of a state dict can build. */
sealed interface PickleValue {

  /** An integer. */
  record Int(long value) implements PickleValue {}

  /** A text. */
  record Text(String text) implements PickleValue {}

  /** True or false. */
  record Bool(boolean value) implements PickleValue {}

  /** None. */
  record None() implements PickleValue {}

  /** A tuple. */
  record Tuple(List<PickleValue> elements) implements PickleValue {}

  /** A name that may be called, or that stands for a type; it is never looked up anywhere. */
  record Global(String name) implements PickleValue {}

  /** A dictionary with text as keys, which instructions go on to fill. */
  final class Dict implements PickleValue {
    private final Map<String, PickleValue> items = new LinkedHashMap<>();

    Map<String, PickleValue> items() {
      return items;
    }
  }

  /**
   * The bytes that tensors lie in.
   *
   * @param key the entry of the archive
   */
  record Storage(ElementType type, String key, long count) implements PickleValue {}

  /**
   * A view of a storage, in elements.
   *
   * @param shape no dimension is negative
   * @param strides as many as dimensions
   */
  record View(Storage storage, long offset, List<Long> shape, List<Long> strides)
      implements PickleValue {}
}
