package dev.warpwright.schedule.trace;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One call of a primitive.
 *
 * @param op name of the primitive
 * @param inputs loops by id, blocks and buffers by name, in the order of the primitive's arguments
 * @param attrs other arguments: {@code Long} and {@code String}
 * @param outputs new loops by id, new blocks and buffers by name
 */
public record Instruction(
    String op, List<String> inputs, SortedMap<String, Object> attrs, List<String> outputs) {
  /** Copies the lists and checks that values are {@code Long} or {@code String}. */
  public Instruction {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    for (Object value : attrs.values()) {
      if (!(value instanceof Long) && !(value instanceof String)) {
        throw new IllegalArgumentException("argument " + value + " is neither Long nor String");
      }
    }
    attrs = Collections.unmodifiableSortedMap(new TreeMap<>(attrs));
  }
}
