package dev.warpwright.model.fuzz;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Archives for tests, and files around the bytes that are fuzzed. */
public final class Archives {
  private Archives() {}

  /** A ZIP archive of entries that are stored; names and their contents in turn. */
  public static byte[] stored(Object... namesAndContents) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      zip.setMethod(ZipOutputStream.STORED);
      for (int i = 0; i < namesAndContents.length; i += 2) {
        ZipEntry entry = new ZipEntry((String) namesAndContents[i]);
        byte[] content = (byte[]) namesAndContents[i + 1];
        CRC32 crc = new CRC32();
        crc.update(content);
        entry.setSize(content.length);
        entry.setCrc(crc.getValue());
        zip.putNextEntry(entry);
        zip.write(content);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Safetensors with w: [2, 2], b: [2] and an integer n. */
  static byte[] weights() {
    String header =
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
            + "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]},"
            + "\"n\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[24,28]}}";
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out = ByteBuffer.allocate(8 + text.length + 28).order(ByteOrder.LITTLE_ENDIAN);
    return out.putLong(text.length).put(text).array();
  }
}
