package dev.warpwright.cli.hostile;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Writes ONNX models node by node, without a thought whether they make sense. */
public final class OnnxWriter {
  private final ByteArrayOutputStream nodes = new ByteArrayOutputStream();
  private final ByteArrayOutputStream rest = new ByteArrayOutputStream();

  /** A node with attributes, each from {@link #attribute}. */
  public OnnxWriter node(
      String op, List<String> inputs, List<String> outputs, byte[]... attributes) {
    ByteArrayOutputStream node = new ByteArrayOutputStream();
    inputs.forEach(input -> node.writeBytes(text(1, input)));
    outputs.forEach(output -> node.writeBytes(text(2, output)));
    node.writeBytes(text(4, op));
    for (byte[] attribute : attributes) {
      node.writeBytes(bytes(5, attribute));
    }
    nodes.writeBytes(bytes(1, node.toByteArray()));
    return this;
  }

  public static byte[] attribute(String name, long value) {
    return joined(text(1, name), number(3, value), number(20, 2));
  }

  public static byte[] attribute(String name, float value) {
    byte[] bits =
        ByteBuffer.allocate(5)
            .order(ByteOrder.LITTLE_ENDIAN)
            .put((byte) 0x15)
            .putFloat(value)
            .array();
    return joined(text(1, name), bits, number(20, 1));
  }

  /** A constant in f32. */
  public OnnxWriter constant(String name, List<Long> shape, float... values) {
    ByteArrayOutputStream tensor = new ByteArrayOutputStream();
    shape.forEach(extent -> tensor.writeBytes(number(1, extent)));
    ByteBuffer data = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      data.putFloat(value);
    }
    tensor.writeBytes(joined(number(2, 1), text(8, name), bytes(9, data.array())));
    rest.writeBytes(bytes(5, tensor.toByteArray()));
    return this;
  }

  /** A constant in i64. */
  public OnnxWriter integers(String name, long... values) {
    ByteBuffer data = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (long value : values) {
      data.putLong(value);
    }
    byte[] tensor =
        joined(number(1, values.length), number(2, 7), text(8, name), bytes(9, data.array()));
    rest.writeBytes(bytes(5, tensor));
    return this;
  }

  /** An input of rows. */
  public OnnxWriter input(String name, Object... shape) {
    rest.writeBytes(bytes(11, value(name, shape)));
    return this;
  }

  public OnnxWriter output(String name, Object... shape) {
    rest.writeBytes(bytes(12, value(name, shape)));
    return this;
  }

  private static byte[] value(String name, Object... shape) {
    ByteArrayOutputStream dims = new ByteArrayOutputStream();
    for (Object extent : shape) {
      dims.writeBytes(
          bytes(1, extent instanceof Long n ? number(1, n) : text(2, extent.toString())));
    }
    byte[] tensor = joined(number(1, 1), bytes(2, dims.toByteArray()));
    return joined(text(1, name), bytes(2, bytes(1, tensor)));
  }

  public byte[] bytes() {
    byte[] graph = joined(nodes.toByteArray(), text(2, "g"), rest.toByteArray());
    return joined(number(1, 8), bytes(7, graph), bytes(8, number(2, 17)));
  }

  private static byte[] number(int field, long value) {
    return joined(ProtoMutator.varint((long) field << 3), ProtoMutator.varint(value));
  }

  private static byte[] text(int field, String text) {
    return bytes(field, text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] bytes(int field, byte[] content) {
    return joined(
        ProtoMutator.varint((long) field << 3 | 2), ProtoMutator.varint(content.length), content);
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }
}
