package dev.warpwright.ir;

import java.util.List;

/**
 * A box of elements of a buffer, one range for each dimension.
 *
 * @param buffer whose elements they are
 * @param ranges one for each dimension
 */
public record Region(Buffer buffer, List<Range> ranges) {
  /** Checks that there is a range for each dimension. */
  public Region {
    ranges = List.copyOf(ranges);
    if (ranges.size() != buffer.rank()) {
      throw new IllegalArgumentException(
          "region of "
              + buffer.name()
              + " has "
              + ranges.size()
              + " ranges, its rank is "
              + buffer.rank());
    }
  }

  /**
   * {@return the whole buffer}
   *
   * @param buffer of any shape
   */
  public static Region whole(Buffer buffer) {
    return new Region(
        buffer, buffer.shape().stream().map(extent -> new Range(Exprs.i32(0), extent)).toList());
  }

  /**
   * {@return the ranges that cover more than one index, in order: the shape of the tile that this
   * region is}
   */
  public List<Range> tile() {
    return ranges.stream().filter(range -> !range.isPoint()).toList();
  }
}
