package dev.warpwright.target;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import java.util.List;
import java.util.stream.LongStream;

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
  private static final int BULK_ALIGNMENT = 128;

  /**
   * {@return the tile that the last two dimensions of a shared buffer are}
   *
   * @param buffer in shared memory
   * @throws UserError if the layout is none that these units know; the message says what they need
   */
  public static SharedTile of(Buffer buffer) {
    if (buffer.rank() < 2) {
      throw refused(buffer, "needs rows and columns");
    }
    int bytes = buffer.dtype().bytes();
    Layout layout = buffer.layout();
    if (layout == null) {
      layout =
          Layout.rowMajor(
              LongStream.range(0, buffer.rank()).map(d -> buffer.extent((int) d)).toArray());
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
      SharedTile plain = new SharedTile(Math.toIntExact(width), false);
      plain.checkStarts(buffer, layout);
      return plain;
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
    tile.checkStarts(buffer, layout);
    return tile;
  }

  /** Tiles, also those behind the first of an array, begin where the pattern of a swizzle does. */
  private void checkStarts(Buffer buffer, Layout layout) {
    int needed = alignment();
    if (buffer.alignment() % needed != 0) {
      String why = swizzled ? "its swizzle repeats every " : "TMA copies need ";
      throw refused(buffer, "is aligned to " + buffer.alignment() + " bytes; " + why + needed);
    }
    for (List<Mode> dimension : layout.dimensions().subList(0, buffer.rank() - 2)) {
      for (Mode mode : dimension) {
        if (mode.extent() > 1 && mode.stride() * buffer.dtype().bytes() % needed != 0) {
          throw refused(
              buffer, "has tiles that do not begin on a multiple of " + needed + " bytes");
        }
      }
    }
  }

  /** {@return bytes of which the start of a tile is a multiple: swizzles repeat every 8 rows} */
  public int alignment() {
    return swizzled ? repeat() : BULK_ALIGNMENT;
  }

  /** {@return bytes of 8 rows, after which the pattern of a swizzle repeats} */
  public int repeat() {
    return GROUP_ROWS * width;
  }

  private static UserError refused(Buffer buffer, String why) {
    return new UserError("shared buffer " + buffer.name() + " " + why);
  }
}
