package dev.warpwright.model.image;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/** Writes 8-bit PNG pictures, grey or RGB, without interlacing or metadata. */
public final class Png {
  private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

  private Png() {}

  /**
   * Writes a picture given as real numbers, for example the output of an image network.
   *
   * @param values rows from the top, pixels from the left, channels within a pixel; 0 is black and
   *     1 is full intensity, values outside are clamped and NaN is black
   * @throws UserError if the file cannot be written
   */
  public static void write(Path path, int width, int height, int channels, float[] values) {
    byte[] samples = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      samples[i] =
          (byte) Math.round(Math.clamp(Float.isNaN(values[i]) ? 0 : values[i], 0, 1) * 255);
    }
    write(path, width, height, channels, samples);
  }

  /**
   * Writes a picture.
   *
   * @param channels 1 for grey, 3 for red, green and blue
   * @param samples height · width · channels bytes: rows from the top, pixels from the left
   * @throws UserError if the file cannot be written
   * @throws IllegalArgumentException if the sizes do not fit
   */
  public static void write(Path path, int width, int height, int channels, byte[] samples) {
    if (width < 1 || height < 1 || (channels != 1 && channels != 3)) {
      throw new IllegalArgumentException(
          "no picture has " + width + "x" + height + " pixels of " + channels + " channels");
    }
    if (samples.length != (long) width * height * channels) {
      throw new IllegalArgumentException(
          samples.length + " samples for " + width + "x" + height + "x" + channels);
    }
    AtomicFile.write(path, out -> encode(out, width, height, channels, samples));
  }

  private static void encode(OutputStream out, int width, int height, int channels, byte[] samples)
      throws IOException {
    out.write(SIGNATURE);
    ByteArrayOutputStream header = new ByteArrayOutputStream();
    DataOutputStream fields = new DataOutputStream(header);
    fields.writeInt(width);
    fields.writeInt(height);
    fields.writeByte(8); // bits a sample
    fields.writeByte(channels == 1 ? 0 : 2); // grey or RGB
    fields.writeByte(0); // deflate
    fields.writeByte(0); // a filter type before each row
    fields.writeByte(0); // no interlacing
    chunk(out, "IHDR", header.toByteArray());
    chunk(out, "IDAT", compress(width * channels, height, samples));
    chunk(out, "IEND", new byte[0]);
  }

  private static byte[] compress(int rowBytes, int height, byte[] samples) throws IOException {
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
    try (DeflaterOutputStream deflate = new DeflaterOutputStream(compressed, deflater)) {
      for (int row = 0; row < height; row++) {
        deflate.write(0); // filter: none
        deflate.write(samples, row * rowBytes, rowBytes);
      }
    } finally {
      deflater.end();
    }
    return compressed.toByteArray();
  }

  private static void chunk(OutputStream out, String type, byte[] content) throws IOException {
    byte[] name = type.getBytes(StandardCharsets.US_ASCII);
    CRC32 crc = new CRC32();
    crc.update(name);
    crc.update(content);
    DataOutputStream fields = new DataOutputStream(out);
    fields.writeInt(content.length);
    fields.write(name);
    fields.write(content);
    fields.writeInt((int) crc.getValue());
    fields.flush();
  }
}
