package dev.warpwright.bench;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A protobuf message, written field by field. */
final class Protobuf {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  Protobuf number(int field, long value) {
    varint((long) field << 3);
    varint(value);
    return this;
  }

  Protobuf text(int field, String value) {
    return bytes(field, value.getBytes(StandardCharsets.UTF_8));
  }

  Protobuf message(int field, Protobuf value) {
    return bytes(field, value.out.toByteArray());
  }

  Protobuf floats(int field, float[] values) {
    ByteBuffer buffer =
        ByteBuffer.allocate(Math.multiplyExact(values.length, Float.BYTES))
            .order(ByteOrder.LITTLE_ENDIAN);
    buffer.asFloatBuffer().put(values);
    return bytes(field, buffer.array());
  }

  byte[] toBytes() {
    return out.toByteArray();
  }

  private Protobuf bytes(int field, byte[] value) {
    varint((long) field << 3 | 2);
    varint(value.length);
    out.writeBytes(value);
    return this;
  }

  private void varint(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      out.write((int) (rest & 0x7F | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
  }
}
