package dev.warpwright.cli.run;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * An ONNX file of two nodes, {@code y = op(x · W)} with x of [N, 4] and W of [4, 3], to be spoiled.
 *
 * @param op the second node's operator
 * @param name the name of everything: graph, nodes, tensors
 * @param weight each element of W
 */
public record TinyOnnx(String op, String name, float weight) {
  private static final int FLOAT = 1;

  public static TinyOnnx relu() {
    return new TinyOnnx("Relu", "n", 0.5f);
  }

  public byte[] bytes() {
    Message weights = new Message().number(1, 4).number(1, 3).number(2, FLOAT).text(8, name + "W");
    ByteBuffer elements = ByteBuffer.allocate(4 * 12).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 12; i++) {
      elements.putFloat(weight * (i + 1));
    }
    weights.bytes(9, elements.array());
    Message graph =
        new Message()
            .message(1, node("MatMul", name + "mm", name + "h", name + "x", name + "W"))
            .message(1, node(op, name + "act", name + "y", name + "h"))
            .text(2, name)
            .message(5, weights)
            .message(11, value(name + "x", 4))
            .message(12, value(name + "y", 3));
    return new Message()
        .number(1, 8)
        .message(7, graph)
        .message(8, new Message().text(1, "").number(2, 20))
        .toBytes();
  }

  /**
   * Several outputs: {@code h = relu(x · W)}, which {@code a/head = tanh(h)} and {@code y = -h}
   * read, too; then {@code h} again, and the input itself.
   */
  public static byte[] severalOutputs() {
    Message weights = new Message().number(1, 4).number(1, 3).number(2, FLOAT).text(8, "W");
    ByteBuffer elements = ByteBuffer.allocate(4 * 12).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 12; i++) {
      elements.putFloat(0.1f * (i - 5));
    }
    weights.bytes(9, elements.array());
    Message graph =
        new Message()
            .message(1, node("MatMul", "mm", "p", "x", "W"))
            .message(1, node("Relu", "relu", "h", "p"))
            .message(1, node("Tanh", "tanh", "a/head", "h"))
            .message(1, node("Neg", "neg", "y", "h"))
            .message(1, node("Identity", "identity", "again", "h"))
            .text(2, "heads")
            .message(5, weights)
            .message(11, value("x", 4));
    for (String output : new String[] {"y", "a/head", "h", "again"}) {
      graph.message(12, value(output, 3));
    }
    graph.message(12, value("x", 4));
    return new Message()
        .number(1, 8)
        .message(7, graph)
        .message(8, new Message().text(1, "").number(2, 20))
        .toBytes();
  }

  private static Message node(String op, String name, String output, String... inputs) {
    Message node = new Message();
    for (String input : inputs) {
      node.text(1, input);
    }
    return node.text(2, output).text(3, name).text(4, op);
  }

  private static Message value(String name, long features) {
    Message shape =
        new Message()
            .message(1, new Message().text(2, "N"))
            .message(1, new Message().number(1, features));
    Message tensor = new Message().number(1, FLOAT).message(2, shape);
    return new Message().text(1, name).message(2, new Message().message(1, tensor));
  }

  /** A protobuf message. */
  private static final class Message {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    Message number(int field, long value) {
      varint(field << 3);
      varint(value);
      return this;
    }

    public Message bytes(int field, byte[] value) {
      varint(field << 3 | 2);
      varint(value.length);
      out.writeBytes(value);
      return this;
    }

    Message text(int field, String value) {
      return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    Message message(int field, Message value) {
      return bytes(field, value.toBytes());
    }

    private void varint(long value) {
      long rest = value;
      while ((rest & ~0x7FL) != 0) {
        out.write((int) (rest & 0x7F | 0x80));
        rest >>>= 7;
      }
      out.write((int) rest);
    }

    byte[] toBytes() {
      return out.toByteArray();
    }
  }
}
