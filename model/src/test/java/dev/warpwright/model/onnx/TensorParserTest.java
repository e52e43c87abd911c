package dev.warpwright.model.onnx;

import static dev.warpwright.model.onnx.OnnxBuilder.tensor;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.onnx.OnnxBuilder.Message;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TensorParserTest {

  private static ConstantTensor parse(Message message) {
    WireReader reader =
        WireReader.of(
            "m.onnx", MemorySegment.ofArray(message.build()), new ExternalData("m.onnx", null));
    return TensorParser.parse(reader, "a tensor");
  }

  private static byte[] varints(long... values) {
    Message out = new Message();
    for (long value : values) {
      out.raw(value);
    }
    return out.build();
  }

  @Test
  void readsRawDataInPlace() {
    Message message =
        tensor("w", OnnxBuilder.FLOAT, List.of(2, 1)).bytes(9, OnnxBuilder.floats(1.5f, -2));
    byte[] bytes = message.build();
    ConstantTensor w =
        TensorParser.parse(
            WireReader.of("m", MemorySegment.ofArray(bytes), new ExternalData("m", null)), "");
    assertThat(w.name()).isEqualTo("w");
    assertThat(w.shape()).containsExactly(2L, 1L);
    assertThat(w.toFloats()).containsExactly(1.5f, -2);
    assertThat(w.data().isReadOnly()).isTrue();
    bytes[bytes.length - 1] ^= (byte) 0x80;
    assertThat(w.floatAt(1)).as("not copied").isEqualTo(2);
  }

  @Test
  void readsFloatsPackedOrNot() {
    Message packed = tensor("w", OnnxBuilder.FLOAT, List.of(2)).bytes(4, OnnxBuilder.floats(1, 2));
    assertThat(parse(packed).toFloats()).containsExactly(1, 2);
    Message single = tensor("w", OnnxBuilder.FLOAT, List.of(2)).float32(4, 1).float32(4, 2);
    assertThat(parse(single).toFloats()).containsExactly(1, 2);
    Message doubles = tensor("w", OnnxBuilder.DOUBLE, List.of(2)).float64(10, 1).float64(10, 2);
    assertThat(parse(doubles).toDoubles()).containsExactly(1, 2);
  }

  @Test
  void readsHalfPrecisionFromIntegers() {
    // the bits of 1 and -2
    Message half = tensor("w", OnnxBuilder.FLOAT16, List.of(2)).bytes(5, varints(0x3C00, 0xC000));
    assertThat(parse(half).toFloats()).containsExactly(1, -2);
    Message brain = tensor("w", OnnxBuilder.BFLOAT16, List.of(2)).bytes(5, varints(0x3F80, 0xC000));
    assertThat(parse(brain).dtype()).isEqualTo(DType.BF16);
    assertThat(parse(brain).toFloats()).containsExactly(1, -2);
    // some writers sign-extend
    Message extended =
        tensor("w", OnnxBuilder.BFLOAT16, List.of(1)).bytes(5, varints((short) 0xC000));
    assertThat(parse(extended).toFloats()).containsExactly(-2);
  }

  @Test
  void readsIntegers() {
    Message longs = tensor("w", OnnxBuilder.INT64, List.of(3)).bytes(7, varints(-1, 0, 1L << 40));
    assertThat(parse(longs).toLongs()).containsExactly(-1, 0, 1L << 40);
    Message ints = tensor("w", OnnxBuilder.INT32, List.of(2)).bytes(5, varints(-7, 7));
    assertThat(parse(ints).toLongs()).containsExactly(-7, 7);
  }

  static Stream<Arguments> badTensors() {
    Message overflow = new Message();
    for (int i = 0; i < 5; i++) {
      overflow.varint(1, 1 << 30);
    }
    Message deep = new Message();
    for (int i = 0; i < 17; i++) {
      deep.varint(1, 1);
    }
    Message external =
        tensor("w", OnnxBuilder.FLOAT, List.of(4))
            .message(13, new Message().string(1, "location").string(2, "a\nb.bin"))
            .varint(14, 1);
    return Stream.of(
        Arguments.of("overflow", overflow.varint(2, OnnxBuilder.FLOAT)),
        Arguments.of("more than 16 dimensions", deep),
        Arguments.of("negative dimension", new Message().varint(1, -1)),
        Arguments.of("tensor 'w' is stored outside the file, in 'a\\nb.bin'", external),
        Arguments.of("unsupported element type string", tensor("w", 8, List.of())),
        Arguments.of("unsupported element type number 77", tensor("w", 77, List.of())),
        Arguments.of(
            "has 0 bytes of data, but f32[1048576] needs 4194304",
            tensor("w", OnnxBuilder.FLOAT, List.of(1 << 20))),
        Arguments.of(
            "has 3 bytes of data, but f32[] needs 4",
            tensor("w", OnnxBuilder.FLOAT, List.of()).bytes(9, new byte[3])),
        Arguments.of(
            "has 1 bytes for 1000000000 integers",
            tensor("w", OnnxBuilder.INT64, List.of(1_000_000_000)).bytes(7, new byte[1])),
        Arguments.of(
            "has more than the 1 integers",
            tensor("w", OnnxBuilder.INT64, List.of(1)).bytes(7, new byte[2])),
        Arguments.of(
            "has 1 integers instead of 2",
            tensor("w", OnnxBuilder.INT64, List.of(2)).bytes(7, varints(300))),
        Arguments.of(
            "the integer 70000, which does not fit into f16",
            tensor("w", OnnxBuilder.FLOAT16, List.of(1)).bytes(5, varints(70000))),
        Arguments.of(
            "data in two forms",
            tensor("w", OnnxBuilder.FLOAT, List.of(1)).bytes(9, new byte[4]).float32(4, 1)),
        Arguments.of(
            "two blocks of raw data",
            tensor("w", OnnxBuilder.FLOAT, List.of(1)).bytes(9, new byte[4]).bytes(9, new byte[4])),
        Arguments.of(
            "data of another type", tensor("w", OnnxBuilder.DOUBLE, List.of(1)).float32(4, 1)),
        Arguments.of("segments", new Message().message(3, new Message())),
        Arguments.of("strings", new Message().string(6, "a")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badTensors")
  void refusesBadTensors(String message, Message tensor) {
    assertThatThrownBy(() -> parse(tensor))
        .isInstanceOf(UserError.class)
        .hasMessageContaining(message);
  }
}
