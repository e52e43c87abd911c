package dev.warpwright.ir;

/**
 * One digit of a coordinate: {@code extent} values, each step moves the offset by {@code stride}
 * elements.
 *
 * @param extent at least 1
 */
public record Mode(long extent, long stride) {
  public Mode {
    if (extent < 1) {
      throw new IllegalArgumentException("extent of a mode must be at least 1, not " + extent);
    }
  }
}
