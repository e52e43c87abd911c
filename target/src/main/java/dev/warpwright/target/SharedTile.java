package dev.warpwright.target;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.layout.Layout;
import dev.warpwright.ir.layout.Mode;
import dev.warpwright.ir.layout.Swizzle;
import java.util.List;

/**
 * How the rows of a matrix lie in shared memory, as bulk tensor copies and warpgroup products see
 * it: dense rows of {@code width} bytes, swizzled over that width or not at all (PTX ISA,
 * "Swizzling modes").
 *
 * @param width bytes of a row
 * @param swizzled whether 16-byte chunks are swizzled over groups of 8 rows
 */
public record SharedTile(int width, boolean swizzled) {
  private static final int CHUNK = 16;
  private static final int GROUP_ROWS = 8;

  /**
   * The tile that the last two dimensions of a shared buffer are.
   *
   * @throws UserError if the layout is none that these units know; the message says what they need
   */
  public static SharedTile of(Buffer buffer) {
    if (buffer.rank() < 2) {
      throw refused(buffer, "needs rows and columns");
    }
    int bytes = buffer.dtype().bytes();
    Layout layout = buffer.layout();
    if (layout == null) {
      return new SharedTile(Math.toIntExact(buffer.extent(buffer.rank() - 1) * bytes), false);
    }
    List<Mode> cols = layout.dimensions().getLast();
    List<Mode> rows = layout.dimensions().get(buffer.rank() - 2);
    if (cols.size() != 1 || cols.getFirst().stride() != 1 || rows.size() != 1) {
      throw refused(buffer, "needs contiguous columns and one stride from row to row");
    }
    long pitch = rows.getFirst().stride() * bytes;
    long width = cols.getFirst().extent() * bytes;
    if (pitch != width) {
      throw refused(
          buffer,
          "has rows of " + width + " bytes that lie " + pitch + " apart; they must be dense");
    }
    Swizzle swizzle = layout.swizzle();
    if (swizzle.isIdentity()) {
      return new SharedTile(Math.toIntExact(width), false);
    }
    if (width != 32 && width != 64 && width != 128) {
      throw refused(buffer, "has rows of " + width + " bytes; swizzled rows have 32, 64 or 128");
    }
    int bits = Integer.numberOfTrailingZeros((int) width / CHUNK);
    int base = Integer.numberOfTrailingZeros(CHUNK / bytes);
    Swizzle expected = new Swizzle(bits, base, 3);
    if (!swizzle.equals(expected)) {
      throw refused(
          buffer,
          "has the swizzle <"
              + swizzle.bits()
              + ","
              + swizzle.base()
              + ","
              + swizzle.shift()
              + ">; rows of "
              + width
              + " bytes of "
              + buffer.dtype()
              + " need <"
              + bits
              + ","
              + base
              + ",3>");
    }
    SharedTile tile = new SharedTile((int) width, true);
    tile.checkRepeats(buffer, layout);
    return tile;
  }

  /** The pattern repeats every 8 rows; tiles of an array must begin where it does. */
  private void checkRepeats(Buffer buffer, Layout layout) {
    int repeat = repeat();
    if (buffer.alignment() % repeat != 0) {
      throw refused(
          buffer,
          "is aligned to " + buffer.alignment() + " bytes; its swizzle repeats every " + repeat);
    }
    for (int d = 0; d < buffer.rank() - 2; d++) {
      for (Mode mode : layout.dimensions().get(d)) {
        if (mode.stride() * buffer.dtype().bytes() % repeat != 0) {
          throw refused(
              buffer, "has tiles that do not begin on a multiple of " + repeat + " bytes");
        }
      }
    }
  }

  /** Bytes after which the pattern repeats: 8 rows. */
  public int repeat() {
    return GROUP_ROWS * width;
  }

  private static UserError refused(Buffer buffer, String why) {
    return new UserError("shared buffer " + buffer.name() + " " + why);
  }
}
