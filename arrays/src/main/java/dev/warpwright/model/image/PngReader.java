package dev.warpwright.model.image;

import dev.warpwright.base.UserError;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.InflaterInputStream;

/** Reads PNG pictures of 8 bits a sample, grey or RGB, with or without transparency, no palette. */
public final class PngReader {
  private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  private static final long MOST_PIXELS = 1L << 28;

  private PngReader() {}

  /**
   * A picture.
   *
   * @param channels 1 for grey, 3 for red, green and blue; transparency is left out
   * @param values rows from the top, pixels from the left, channels within a pixel; from 0 to 1
   */
  public record Picture(int width, int height, int channels, float[] values) {}

  /**
   * Reads a file.
   *
   * @throws UserError if it cannot be read, is no PNG, or one of another kind
   */
  public static Picture read(Path path) {
    try (DataInputStream in =
        new DataInputStream(new ByteArrayInputStream(Files.readAllBytes(path)))) {
      if (!Arrays.equals(in.readNBytes(SIGNATURE.length), SIGNATURE)) {
        throw new UserError(path + ": it is no PNG picture");
      }
      return read(path, in);
    } catch (IOException e) {
      throw new UserError(path + ": it cannot be read as a PNG picture", e);
    }
  }

  private static Picture read(Path path, DataInputStream in) throws IOException {
    int width = 0;
    int height = 0;
    int stored = 0;
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    while (true) {
      int length = in.readInt();
      String type = new String(in.readNBytes(4), StandardCharsets.US_ASCII);
      byte[] content = in.readNBytes(Math.max(0, length));
      if (length < 0 || content.length != length) {
        throw new IOException("it ends too early");
      }
      in.readInt(); // checksum: what is broken does not decompress, or is another picture
      if (type.equals("IHDR")) {
        DataInputStream header = new DataInputStream(new ByteArrayInputStream(content));
        width = header.readInt();
        height = header.readInt();
        int bits = header.readByte();
        int colour = header.readByte();
        header.readShort();
        stored =
            switch (colour) {
              case 0 -> 1;
              case 2 -> 3;
              case 4 -> 2;
              case 6 -> 4;
              default -> 0;
            };
        if (bits != 8 || stored == 0 || header.readByte() != 0) {
          throw new UserError(
              path + ": save it with 8 bits a channel, grey or RGB, not interlaced");
        }
        if (width < 1 || height < 1 || (long) width * height > MOST_PIXELS) {
          throw new UserError(path + ": a picture of " + width + "x" + height + " pixels");
        }
      } else if (type.equals("IDAT")) {
        compressed.write(content);
      } else if (type.equals("IEND")) {
        break;
      }
    }
    if (stored == 0) {
      throw new IOException("it has no header");
    }
    return decode(width, height, stored, compressed.toByteArray());
  }

  private static Picture decode(int width, int height, int stored, byte[] compressed)
      throws IOException {
    int channels = stored < 3 ? 1 : 3;
    float[] values = new float[Math.multiplyExact(width * height, channels)];
    byte[] above = new byte[width * stored];
    try (InflaterInputStream in = new InflaterInputStream(new ByteArrayInputStream(compressed))) {
      int at = 0;
      for (int y = 0; y < height; y++) {
        int filter = in.read();
        byte[] row = in.readNBytes(width * stored);
        if (row.length != width * stored) {
          throw new IOException("it ends too early");
        }
        unfilter(filter, row, above, stored);
        for (int x = 0; x < width; x++) {
          for (int c = 0; c < channels; c++) {
            values[at++] = Byte.toUnsignedInt(row[x * stored + c]) / 255f;
          }
        }
        above = row;
      }
    }
    return new Picture(width, height, channels, values);
  }

  /** Adds what the row's filter had taken from each byte: its neighbours' values. */
  private static void unfilter(int filter, byte[] row, byte[] above, int pixel) throws IOException {
    for (int i = 0; i < row.length; i++) {
      int left = i < pixel ? 0 : Byte.toUnsignedInt(row[i - pixel]);
      int up = Byte.toUnsignedInt(above[i]);
      int corner = i < pixel ? 0 : Byte.toUnsignedInt(above[i - pixel]);
      row[i] +=
          (byte)
              switch (filter) {
                case 0 -> 0;
                case 1 -> left;
                case 2 -> up;
                case 3 -> (left + up) / 2;
                case 4 -> paeth(left, up, corner);
                default -> throw new IOException("there is no filter " + filter);
              };
    }
  }

  private static int paeth(int left, int up, int corner) {
    int toLeft = Math.abs(up - corner);
    int toUp = Math.abs(left - corner);
    int toCorner = Math.abs(left + up - 2 * corner);
    return toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner;
  }
}
