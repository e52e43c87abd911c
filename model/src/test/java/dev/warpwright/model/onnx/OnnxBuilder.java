package dev.warpwright.model.onnx;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Builds ONNX files, valid and invalid, field by field. */
final class OnnxBuilder {
  static final int FLOAT = 1;
  static final int INT32 = 6;
  static final int INT64 = 7;
  static final int BOOL = 9;
  static final int FLOAT16 = 10;
  static final int DOUBLE = 11;
  static final int BFLOAT16 = 16;

  private final Message graph = new Message();
  private final Message tail = new Message();
  private int version = 17;

  /** One protobuf message. */
  static final class Message {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    Message varint(int field, long value) {
      raw(field << 3L);
      return raw(value);
    }

    Message float32(int field, float value) {
      raw(field << 3 | 5);
      return append(buffer(4).putFloat(value).array());
    }

    Message float64(int field, double value) {
      raw(field << 3 | 1);
      return append(buffer(8).putDouble(value).array());
    }

    Message string(int field, String value) {
      return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    Message message(int field, Message value) {
      return bytes(field, value.build());
    }

    Message bytes(int field, byte[] value) {
      raw(field << 3 | 2);
      raw(value.length);
      return append(value);
    }

    /** A varint without a field. */
    Message raw(long value) {
      long rest = value;
      while ((rest & ~0x7FL) != 0) {
        out.write((int) (rest & 0x7F | 0x80));
        rest >>>= 7;
      }
      out.write((int) rest);
      return this;
    }

    Message append(byte[] bytes) {
      out.writeBytes(bytes);
      return this;
    }

    byte[] build() {
      return out.toByteArray();
    }

    private static ByteBuffer buffer(int size) {
      return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  /** A graph with the input x: f32[batch, features]. */
  static OnnxBuilder withInput(long features) {
    return new OnnxBuilder().input("x", FLOAT, "batch", features);
  }

  OnnxBuilder opset(int newVersion) {
    version = newVersion;
    return this;
  }

  /** A graph input; a dimension is a number, or a string for a symbolic one. */
  OnnxBuilder input(String name, int type, Object... dims) {
    graph.message(11, valueInfo(name, type, dims));
    return this;
  }

  OnnxBuilder output(String name, Object... dims) {
    return output(FLOAT, name, dims);
  }

  OnnxBuilder output(int type, String name, Object... dims) {
    graph.message(12, valueInfo(name, type, dims));
    return this;
  }

  OnnxBuilder initializer(String name, List<Integer> dims, float... values) {
    return initializer(tensor(name, FLOAT, dims).bytes(9, floats(values)));
  }

  OnnxBuilder ints(String name, long... values) {
    Message data = new Message();
    for (long value : values) {
      data.raw(value);
    }
    return initializer(tensor(name, INT64, List.of(values.length)).bytes(7, data.build()));
  }

  OnnxBuilder initializer(Message tensor) {
    graph.message(5, tensor);
    return this;
  }

  OnnxBuilder node(String op, List<String> inputs, String output, Message... attributes) {
    return node(op, "n_" + output, inputs, List.of(output), attributes);
  }

  OnnxBuilder node(
      String op, String name, List<String> inputs, List<String> outputs, Message... attributes) {
    Message node = new Message();
    inputs.forEach(input -> node.string(1, input));
    outputs.forEach(output -> node.string(2, output));
    node.string(3, name).string(4, op);
    for (Message attribute : attributes) {
      node.message(5, attribute);
    }
    graph.message(1, node);
    return this;
  }

  /** Any further field of the graph. */
  OnnxBuilder graphField(int field, Message value) {
    graph.message(field, value);
    return this;
  }

  /** Any further field of the model. */
  OnnxBuilder modelField(int field, Message value) {
    tail.message(field, value);
    return this;
  }

  byte[] build() {
    Message model = new Message().varint(1, 8).string(2, "test");
    model.message(7, graph).append(tail.build());
    return model.message(8, new Message().varint(2, version)).build();
  }

  static Message tensor(String name, int type, List<Integer> dims) {
    Message tensor = new Message();
    dims.forEach(dim -> tensor.varint(1, dim));
    return tensor.varint(2, type).string(8, name);
  }

  static Message attribute(String name, long value) {
    return new Message().string(1, name).varint(3, value).varint(20, 2);
  }

  static Message attribute(String name, float value) {
    return new Message().string(1, name).float32(2, value).varint(20, 1);
  }

  static Message attribute(String name, String value) {
    return new Message().string(1, name).string(4, value).varint(20, 3);
  }

  static Message attribute(String name, Message tensor) {
    return new Message().string(1, name).message(5, tensor).varint(20, 4);
  }

  static Message ints(String name, List<Long> values) {
    Message attribute = new Message().string(1, name).varint(20, 7);
    values.forEach(value -> attribute.varint(8, value));
    return attribute;
  }

  static byte[] floats(float... values) {
    byte[] bytes = new byte[values.length * 4];
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      buffer.putFloat(value);
    }
    return bytes;
  }

  private static Message valueInfo(String name, int type, Object... dims) {
    Message shape = new Message();
    for (Object dim : dims) {
      Message encoded = new Message();
      if (dim instanceof Number size) {
        encoded.varint(1, size.longValue());
      } else {
        encoded.string(2, dim.toString());
      }
      shape.message(1, encoded);
    }
    Message tensorType = new Message().varint(1, type).message(2, shape);
    return new Message().string(1, name).message(2, new Message().message(1, tensorType));
  }
}
