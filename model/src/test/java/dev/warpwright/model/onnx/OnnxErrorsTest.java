package dev.warpwright.model.onnx;

import static dev.warpwright.model.onnx.OnnxBuilder.FLOAT;
import static dev.warpwright.model.onnx.OnnxBuilder.attribute;
import static dev.warpwright.model.onnx.OnnxBuilder.tensor;
import static dev.warpwright.model.onnx.OnnxBuilder.withInput;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.model.onnx.OnnxBuilder.Message;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each thing that can be wrong with a model is one line that names the file and the culprit. */
class OnnxErrorsTest {

  static Stream<Arguments> badModels() {
    return Stream.of(
        bad(
            "node 'n\\'\\n1' has unsupported operator 'Foo'; supported: Abs, Add, ",
            withInput(1).node("Foo", "n'\n1", List.of("x"), List.of("y"))),
        bad(
            "node #0 has unsupported operator 'Foo'",
            withInput(1).node("Foo", "", List.of("x"), List.of("y"))),
        bad("operator set version 99 is not supported", relu().opset(99)),
        bad("operator set version 6 is not supported", relu().opset(6)),
        bad("the model has no input", new OnnxBuilder().output("y", 1)),
        bad("the model has no output", withInput(1).node("Relu", List.of("x"), "y")),
        bad("output 'z' is computed by no node", relu().output("z", "batch", 1)),
        bad("output 'y' is listed twice", relu().output("y", "batch", 1)),
        bad("output 'c' is a constant", withInput(1).initializer("c", List.of(), 1).output("c", 1)),
        bad(
            "output 'y' is declared as float32[batch, 9], but the nodes compute f32[batch, 2]",
            withInput(2).node("Relu", List.of("x"), "y").output("y", "batch", 9)),
        bad(
            "input 'x' has type int64",
            new OnnxBuilder().input("x", OnnxBuilder.INT64, "batch", 1)),
        bad(
            "input 'x' has a dynamic last dimension",
            new OnnxBuilder().input("x", FLOAT, "batch", "features")),
        bad("input 'x' has no declared shape", new OnnxBuilder().input("x", FLOAT)),
        bad(
            "a graph input defines the name 'x' a second time",
            withInput(1).input("x", FLOAT, "batch", 1)),
        bad(
            "inputs 'x' f32[batch, 1] and 'z' f32[other, 1] have different rows",
            withInput(1).input("z", FLOAT, "other", 1)),
        bad(
            "node 'n_y' defines the name 'y' a second time",
            relu().node("Relu", List.of("x"), "y")),
        bad(
            "an initializer defines the name 'w' a second time",
            withInput(1).initializer("w", List.of(), 1).initializer("w", List.of(), 1)),
        bad(
            "node 'n_y' reads 'nope', which is no input, initializer or output of a node",
            withInput(1).node("Relu", List.of("nope"), "y")),
        bad(
            "node 'n_a' reads 'b', which node 'n_b' computes only later: nodes are cyclic",
            withInput(1).node("Relu", List.of("b"), "a").node("Relu", List.of("a"), "b")),
        bad(
            "node 'd' reads 'mask', an output of node 'n' that is not supported",
            withInput(1)
                .node("Dropout", "n", List.of("x"), List.of("y", "mask"))
                .node("Relu", "d", List.of("mask"), List.of("z"))),
        bad(
            "node 'n_y' (Relu): has 2 inputs instead of 1 to 1",
            withInput(1).node("Relu", List.of("x", "x"), "y")),
        bad("node 'n_y' (Relu): input 0 is missing", withInput(1).node("Relu", List.of(""), "y")),
        bad(
            "node 'n_y' (Relu): attribute 'alpha' is not supported",
            withInput(1).node("Relu", List.of("x"), "y", attribute("alpha", 1))),
        bad("attribute transB is no integer", gemm(attribute("transB", 1f))),
        bad("node 'n_y' (Gemm): transA=1 of a computed matrix", gemm(attribute("transA", 1))),
        bad("weight f32[3, 2] does not fit the input f32[batch, 2]", gemm(attribute("transB", 0))),
        bad(
            "(MatMul): multiplies a computed f32[batch, 1] with a computed f32[batch, 1]; the first"
                + " must",
            relu().node("MatMul", List.of("x", "y"), "z")),
        bad(
            "(MatMul): weight f32[] must be a matrix that is not empty",
            withInput(1).initializer("w", List.of(), 1).node("MatMul", List.of("w", "x"), "z")),
        bad(
            "(MatMul): multiplies a computed f32[batch, 1] with a computed f32[batch, 1]",
            withInput(1).node("MatMul", List.of("x", "x"), "z")),
        bad(
            "(MatMul): multiplies a constant f32[3, 2] with f32[batch, 2] from the left",
            withInput(2)
                .initializer("w", List.of(3, 2), 1, 2, 3, 4, 5, 6)
                .node("MatMul", List.of("w", "x"), "z")),
        bad(
            "the constant in f32[batch, 2] and f32[2, 1] differs from row to row",
            add(2, List.of(2, 1), 1, 2)),
        bad("operands f32[batch, 2] and f32[3] do not broadcast", add(2, List.of(3), 1, 2, 3)),
        bad(
            "operands f32[batch, 2] and f32[batch, 3] do not broadcast",
            withInput(2).input("z", FLOAT, "batch", 3).node("Add", List.of("x", "z"), "y")),
        bad(
            "approximate must be 'none' or 'tanh'",
            withInput(2).node("Gelu", List.of("x"), "y", attribute("approximate", "maybe"))),
        bad(
            "casts a computed f32 to i32, which is not supported",
            withInput(2).node("Cast", List.of("x"), "y", attribute("to", 6))),
        bad(
            "casts to unsupported type string",
            withInput(2).node("Cast", List.of("x"), "y", attribute("to", 8))),
        bad(
            "exported in training mode",
            withInput(2)
                .initializer(tensor("t", OnnxBuilder.BOOL, List.of()).bytes(9, new byte[] {1}))
                .node("Dropout", List.of("x", "", "t"), "y")),
        bad(
            "reshaping f32[batch, 2] to [2, -1] changes the rows",
            withInput(2).ints("s", 2, -1).node("Reshape", List.of("x", "s"), "y")),
        bad(
            "reshaping f32[batch, 2] to [-1, -1] changes the rows",
            withInput(2).ints("s", -1, -1).node("Reshape", List.of("x", "s"), "y")),
        bad(
            "reshaping f32[batch, 8] to [-1, 4] changes the rows",
            withInput(8).ints("s", -1, 4).node("Reshape", List.of("x", "s"), "y")),
        bad(
            "transposing f32[batch, 2] to [1, 0] moves rows, which is not row-wise",
            withInput(2).node("Transpose", List.of("x"), "y")),
        bad(
            "(Softmax): reducing f32[batch, 2] over [0] combines rows",
            withInput(2).node("Softmax", List.of("x"), "y", attribute("axis", 0))),
        bad(
            "(Concat): putting rows of f32[batch, 2] behind others is not row-wise",
            withInput(2).node("Concat", List.of("x", "x"), "y", attribute("axis", 0))),
        bad(
            "(Gather): chooses by indices f32[batch, 2] that are no constant whole numbers",
            withInput(2)
                .initializer("table", List.of(2, 2), 1, 2, 3, 4)
                .node("Gather", List.of("table", "x"), "y")),
        bad(
            "(Slice): slicing rows of f32[batch, 2] is not row-wise",
            withInput(2)
                .ints("from", 1)
                .ints("to", 2)
                .ints("axis", 0)
                .node("Slice", List.of("x", "from", "to", "axis"), "y")),
        bad(
            "(Split): splitting f32[batch, 2] into [1, 2] along axis 1 does not fit",
            withInput(2)
                .ints("parts", 1, 2)
                .node(
                    "Split", "n", List.of("x", "parts"), List.of("y", "z"), attribute("axis", 1))),
        bad(
            "(BatchNormalization): the model was exported in training mode",
            withInput(1)
                .initializer("one", List.of(1), 1)
                .node(
                    "BatchNormalization",
                    List.of("x", "one", "one", "one", "one"),
                    "y",
                    attribute("training_mode", 1))),
        bad(
            "normalising f32[batch, 1] over [0, 1] combines rows",
            withInput(1)
                .initializer("s", List.of(1), 1)
                .node("LayerNormalization", List.of("x", "s"), "y", attribute("axis", 0))),
        bad(
            "epsilon -1.0 must be",
            withInput(1)
                .initializer("s", List.of(1), 1)
                .node("LayerNormalization", List.of("x", "s"), "y", attribute("epsilon", -1f))),
        bad(
            "(ReduceMean): reducing f32[batch, 2] over [0, 1] combines rows",
            withInput(2).node("ReduceMean", List.of("x"), "m")),
        bad(
            "(Expand): constant subexpressions need too much memory",
            withInput(2)
                .initializer("c", List.of(), 1)
                .ints("shape", 1L << 60)
                .node("Expand", List.of("c", "shape"), "y")),
        bad(
            "to [-1, 4294967296, 4294967296] changes the rows",
            withInput(2).ints("s", -1, 1L << 32, 1L << 32).node("Reshape", List.of("x", "s"), "y")),
        bad("sparse initializers are not supported", withInput(1).graphField(15, new Message())),
        bad("there are two graphs", relu().modelField(7, new Message())),
        bad(
            "two versions of the operator set ''",
            relu().modelField(8, new Message().varint(2, 5))));
  }

  private static Arguments bad(String message, OnnxBuilder builder) {
    return Arguments.of(message, builder);
  }

  private static OnnxBuilder relu() {
    return withInput(1).node("Relu", List.of("x"), "y").output("y", "batch", 1);
  }

  private static OnnxBuilder gemm(Message attribute) {
    return withInput(2)
        .initializer("w", List.of(3, 2), 1, 2, 3, 4, 5, 6)
        .node("Gemm", List.of("x", "w"), "y", attribute);
  }

  private static OnnxBuilder add(int features, List<Integer> dims, float... values) {
    return withInput(features)
        .initializer("c", dims, values)
        .node("Add", List.of("x", "c"), "y")
        .output("y", "batch", features);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badModels")
  void saysWhatIsWrong(String message, OnnxBuilder builder) {
    assertRefused(builder.build(), message);
  }

  @Test
  void refusesOperatorsOfOtherDomains() {
    Message node =
        new Message()
            .string(1, "x")
            .string(2, "y")
            .string(3, "f")
            .string(4, "Gelu")
            .string(7, "com.example");
    assertRefused(
        withInput(1).graphField(1, node).build(),
        "node 'f' has unsupported operator 'com.example.Gelu'");
  }

  @Test
  void refusesAModelWithoutGraphOrOperatorSet() {
    assertRefused(new Message().varint(1, 8).build(), "there is no graph in it");
    assertRefused(
        new Message().varint(1, 8).message(7, new Message()).build(),
        "names no version of the operator set");
  }

  private static void assertRefused(byte[] bytes, String message) {
    assertThatThrownBy(() -> OnnxImporter.importModel("m.onnx", MemorySegment.ofArray(bytes)))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("m.onnx: ")
        .hasMessageContaining(message)
        .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
  }
}
