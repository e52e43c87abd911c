package dev.warpwright.schedule;

/**
 * A number that was sampled. Primitives that take it record where it came from, so that another
 * choice in the trace changes what they do.
 *
 * @param id its name in the trace, such as {@code v3}
 * @param value the number
 */
public record ValueRef(String id, long value) {
  @Override
  public String toString() {
    return id + "=" + value;
  }
}
