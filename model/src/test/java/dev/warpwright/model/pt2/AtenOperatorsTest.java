package dev.warpwright.model.pt2;

import static dev.warpwright.model.pt2.Pt2Builder.flag;
import static dev.warpwright.model.pt2.Pt2Builder.integer;
import static dev.warpwright.model.pt2.Pt2Builder.integers;
import static dev.warpwright.model.pt2.Pt2Builder.number;
import static dev.warpwright.model.pt2.Pt2Builder.tensor;
import static dev.warpwright.model.pt2.Pt2Builder.tensors;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.json.Json;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.GraphSimplifier;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.zip.ZipArchive;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each ATen operator means what it means in PyTorch. */
class AtenOperatorsTest {
  /** Two rows of four. */
  private static final double[] X = {0.5, -1, 2, 30, -0.25, 0, 1.5, -3};

  private static final List<Object> ROWS = List.of("s0", 4);
  private static final List<Object> ONE = List.of("s0", 1);
  private static final List<Object> HALF = List.of("s0", 2);

  private static Pt2Builder model() {
    return new Pt2Builder()
        .parameter("w", List.of(4, 4), 1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, 0, 0, 0, 1)
        .parameter("b", List.of(4), 0.5, 1, -1, 2)
        .parameter("v", List.of(4), 4, 1, 0.25, 9)
        .input("x", "s0", 4);
  }

  private static Graph graph(Pt2Builder model) {
    byte[] bytes = model.build();
    ZipArchive archive = ZipArchive.read("m", MemorySegment.ofArray(bytes));
    return GraphSimplifier.simplify(Pt2Importer.importModel("m", archive, bytes.length));
  }

  private static double[] run(Pt2Builder model) {
    return GraphEvaluator.evaluate(graph(model), 2, List.of(X)).getFirst();
  }

  /** What a node with x as {@code self} computes. */
  private static double[] apply(String target, List<Object> shape, Object... arguments) {
    Object[] all =
        Stream.concat(Stream.of("self", tensor("x")), Arrays.stream(arguments)).toArray();
    return run(model().node(target, "y", shape, all).output("y"));
  }

  private static void assertClose(double[] actual, double... expected) {
    assertThat(actual).hasSameSizeAs(expected);
    for (int i = 0; i < expected.length; i++) {
      double tolerance = 1e-6 * Math.max(1, Math.abs(expected[i]));
      assertThat(actual[i]).as("element %d", i).isCloseTo(expected[i], within(tolerance));
    }
  }

  private static Arguments same(String target, DoubleUnaryOperator meaning, Object... arguments) {
    return Arguments.of(target, meaning, arguments);
  }

  private static double sigmoid(double x) {
    return 1 / (1 + Math.exp(-x));
  }

  static Stream<Arguments> elementwise() {
    return Stream.of(
        same("aten.relu.default", x -> Math.max(x, 0)),
        same("aten.neg.default", x -> -x),
        same("aten.abs.default", Math::abs),
        same("aten.sin.default", Math::sin),
        same("aten.cos.default", Math::cos),
        same("aten.tanh.default", Math::tanh),
        same("aten.sigmoid.default", AtenOperatorsTest::sigmoid),
        same("aten.silu.default", x -> x * sigmoid(x)),
        same("aten.square.default", x -> x * x),
        same("aten.floor.default", Math::floor),
        same("aten.expm1.default", Math::expm1),
        same("aten.softsign.default", x -> x / (1 + Math.abs(x))),
        same("aten.hardswish.default", x -> x * Math.clamp(x + 3, 0, 6) / 6),
        same("aten.hardsigmoid.default", x -> Math.clamp(x / 6 + 0.5, 0, 1)),
        same("aten.hardtanh.default", x -> Math.clamp(x, -1, 1)),
        same("aten.relu6.default", x -> Math.clamp(x, 0, 6)),
        same("aten.mish.default", x -> x * Math.tanh(Math.log1p(Math.exp(x)))),
        same("aten.log_sigmoid.default", x -> -Math.log1p(Math.exp(-x))),
        same("aten.selu.default", x -> 1.0507009873554805 * elu(x, 1.6732632423543772)),
        same("aten.elu.default", x -> elu(x, 1)),
        same("aten.elu.default", x -> 3 * elu(x, 2), "alpha", number(2), "scale", number(3)),
        same("aten.celu.default", x -> x > 0 ? x : 2 * Math.expm1(x / 2), "alpha", number(2)),
        same("aten.leaky_relu.default", x -> x > 0 ? x : 0.01 * x),
        same("aten.leaky_relu.default", x -> x > 0 ? x : x / 4, "negative_slope", number(0.25)),
        same("aten.softplus.default", x -> Math.log1p(Math.exp(x))),
        same("aten.softplus.default", x -> softplus(x, 2, 20), "beta", number(2)),
        same(
            "aten.softplus.default",
            x -> softplus(x, 1, 1),
            "beta",
            integer(1),
            "threshold",
            integer(1)),
        same("aten.clamp.default", x -> Math.min(x, 1), "max", integer(1)),
        same("aten.clamp.default", x -> Math.clamp(x, -1, 1), "min", number(-1), "max", number(1)),
        same("aten.clamp_min.default", x -> Math.max(x, 0.25), "min", number(0.25)),
        same("aten.add.Tensor", x -> x + 6, "other", number(3), "alpha", integer(2)),
        same("aten.sub.Tensor", x -> x - 3, "other", number(3)),
        same("aten.rsub.Scalar", x -> 3 - 2 * x, "other", integer(3), "alpha", integer(2)),
        same("aten.mul.Tensor", x -> x * x, "other", tensor("x")),
        same("aten.div.Tensor", x -> x / 4, "other", number(4)),
        same("aten.add_.Tensor", x -> x + 1 + 2, "other", number(2)),
        same("aten.pow.Tensor_Scalar", x -> x * x * x, "exponent", integer(3)),
        same(
            "aten.div.Tensor_mode",
            x -> Math.floor(x / 2),
            "other",
            integer(2),
            "rounding_mode",
            Pt2Builder.one("as_string", Json.of("floor"))),
        same("aten.clone.default", x -> x),
        same("aten.to.dtype", x -> x, "dtype", Pt2Builder.one("as_scalar_type", Json.of(7))));
  }

  private static double elu(double x, double alpha) {
    return x > 0 ? x : alpha * Math.expm1(x);
  }

  private static double softplus(double x, double beta, double threshold) {
    return x * beta > threshold ? x : Math.log1p(Math.exp(x * beta)) / beta;
  }

  @ParameterizedTest
  @MethodSource("elementwise")
  void actsOnEachElement(String target, DoubleUnaryOperator meaning, Object[] arguments) {
    double[] actual;
    if (target.contains("_.")) {
      // what is overwritten must be nobody else's
      Object[] all =
          Stream.concat(Stream.of("self", tensor("a")), Arrays.stream(arguments)).toArray();
      actual =
          run(
              model()
                  .node("aten.add.Tensor", "a", ROWS, "self", tensor("x"), "other", number(1))
                  .node(target, "y", ROWS, all)
                  .output("y"));
    } else {
      actual = apply(target, ROWS, arguments);
    }
    assertClose(actual, Arrays.stream(X).map(meaning).toArray());
  }

  /** What something else reads, the same tensor twice, and the input: each is an output. */
  @Test
  void aModelOfSeveralOutputs() {
    Pt2Builder several =
        model()
            .node("aten.relu.default", "h", ROWS, "self", tensor("x"))
            .node("aten.neg.default", "y", ROWS, "self", tensor("h"))
            .outputs("y", "h", "h", "x");
    Graph graph = graph(several);
    assertThat(graph.outputs()).extracting(v -> v.name()).containsExactly("y", "h", "h/1", "x");
    List<double[]> outputs = GraphEvaluator.evaluate(graph, 2, List.of(X));
    double[] relu = Arrays.stream(X).map(x -> Math.max(x, 0)).toArray();
    assertClose(outputs.get(0), Arrays.stream(relu).map(x -> -x).toArray());
    assertClose(outputs.get(1), relu);
    assertClose(outputs.get(2), relu);
    assertClose(outputs.get(3), X);
  }

  @Test
  void multipliesWithMatricesHoweverTheyAreStored() {
    double[] rows = new double[8];
    double[][] w = {{1, 2, 3, 4}, {5, 6, 7, 8}, {-1, -2, -3, -4}, {0, 0, 0, 1}};
    double[] b = {0.5, 1, -1, 2};
    for (int i = 0; i < 8; i++) {
      for (int k = 0; k < 4; k++) {
        rows[i] += X[i / 4 * 4 + k] * w[i % 4][k];
      }
    }
    double[] biased = new double[8];
    Arrays.setAll(biased, i -> rows[i] + b[i % 4]);
    Pt2Builder linear =
        model()
            .node(
                "aten.linear.default",
                "y",
                ROWS,
                "input",
                tensor("x"),
                "weight",
                tensor("w"),
                "bias",
                tensor("b"))
            .output("y");
    assertClose(run(linear), biased);
    for (String transpose : new String[] {"aten.t.default", "aten.numpy_T.default"}) {
      Pt2Builder decomposed =
          model()
              .node(transpose, "t", List.of(4, 4), "self", tensor("w"))
              .node(
                  "aten.addmm.default",
                  "y",
                  ROWS,
                  "self",
                  tensor("b"),
                  "mat1",
                  tensor("x"),
                  "mat2",
                  tensor("t"))
              .output("y");
      assertClose(run(decomposed), biased);
      assertThat(graph(decomposed).nodes()).hasSize(1);
    }
    Pt2Builder permuted =
        model()
            .node(
                "aten.permute.default",
                "t",
                List.of(4, 4),
                "self",
                tensor("w"),
                "dims",
                integers(1L, 0L))
            .node("aten.mm.default", "y", ROWS, "self", tensor("x"), "mat2", tensor("t"))
            .output("y");
    assertClose(run(permuted), rows);
    // the weight is not copied: it is the one of the archive
    assertThat(((Linear) graph(permuted).nodes().getFirst()).weight().name()).isEqualTo("w");
  }

  @Test
  void multipliesRowsOfHigherRank() {
    Pt2Builder model =
        new Pt2Builder()
            .parameter("w", List.of(1, 2), 3, 4)
            .input("x", "s0", 2, 2)
            .node(
                "aten.linear.default",
                "y",
                List.of("s0", 2, 1),
                "input",
                tensor("x"),
                "weight",
                tensor("w"))
            .output("y");
    assertClose(
        GraphEvaluator.evaluate(graph(model), 2, List.of(new double[] {1, 2, 3, 4})).getFirst(),
        11,
        25);
  }

  @Test
  void normalizesRows() {
    Object[] four = {"normalized_shape", integers(4L), "eps", number(1e-5)};
    Pt2Builder plain =
        model()
            .node(
                "aten.layer_norm.default",
                "y",
                ROWS,
                "input",
                tensor("x"),
                four[0],
                four[1],
                four[2],
                four[3])
            .output("y");
    double[] y = run(plain);
    assertThat(y[0] + y[1] + y[2] + y[3]).isCloseTo(0, within(1e-6));
    Pt2Builder rms =
        model()
            .node(
                "aten.rms_norm.default",
                "y",
                ROWS,
                "input",
                tensor("x"),
                "normalized_shape",
                integers(4L),
                "weight",
                tensor("v"))
            .output("y");
    double root = Math.sqrt((0.25 + 1 + 4 + 900) / 4 + 0x1p-23);
    assertThat(run(rms)[3]).isCloseTo(30 / root * 9, within(1e-6));
    Pt2Builder batch =
        model()
            .node(
                "aten.batch_norm.default",
                "y",
                ROWS,
                "input",
                tensor("x"),
                "running_mean",
                tensor("b"),
                "running_var",
                tensor("v"),
                "training",
                flag(false),
                "momentum",
                number(0.1),
                "eps",
                number(0))
            .output("y");
    assertClose(Arrays.copyOf(run(batch), 4), 0, -2, 3 / 0.5, 28.0 / 3);
  }

  @Test
  void reducesRows() {
    assertClose(apply("aten.sum.dim_IntList", List.of("s0"), "dim", integers(-1L)), 31.5, -1.75);
    assertClose(
        apply("aten.mean.dim", ONE, "dim", integers(1L), "keepdim", flag(true)), 7.875, -0.4375);
    assertClose(apply("aten.amax.default", List.of("s0"), "dim", integers(-1L)), 30, 1.5);
    double mean = -0.4375;
    double squares = 0;
    for (int i = 4; i < 8; i++) {
      squares += (X[i] - mean) * (X[i] - mean);
    }
    Object[] last = {"dim", integers(-1L), "correction", integer(1)};
    assertThat(apply("aten.var.correction", List.of("s0"), last)[1])
        .isCloseTo(squares / 3, within(1e-6));
    assertThat(apply("aten.std.correction", List.of("s0"), last)[1])
        .isCloseTo(Math.sqrt(squares / 3), within(1e-6));
    assertThat(
            apply(
                "aten.linalg_vector_norm.default", ONE, "dim", integers(1L), "keepdim", flag(true))[
                0])
        .isCloseTo(Math.sqrt(905.25), within(1e-6));
    double[] softmax = apply("aten.softmax.int", ROWS, "dim", integer(-1));
    assertThat(softmax[4])
        .isCloseTo(
            Math.exp(-0.25) / (Math.exp(-0.25) + 1 + Math.exp(1.5) + Math.exp(-3)), within(1e-9));
    double[] log =
        apply("aten._log_softmax.default", ROWS, "dim", integer(1), "half_to_float", flag(false));
    assertThat(log[4]).isCloseTo(Math.log(softmax[4]), within(1e-9));
  }

  @Test
  void takesApartAndPutsTogether() {
    assertClose(
        apply("aten.slice.Tensor", HALF, "dim", integer(1), "start", integer(1), "end", integer(3)),
        -1,
        2,
        0,
        1.5);
    assertClose(
        apply(
            "aten.slice.Tensor", HALF, "dim", integer(1), "start", integer(0), "step", integer(2)),
        0.5,
        2,
        -0.25,
        1.5);
    assertClose(
        apply(
            "aten.slice.Tensor",
            ROWS,
            "dim",
            integer(0),
            "start",
            integer(0),
            "end",
            integer(Long.MAX_VALUE)),
        X);
    assertClose(
        apply("aten.select.int", List.of("s0"), "dim", integer(1), "index", integer(-1)), 30, -3);
    assertClose(
        apply("aten.glu.default", HALF, "dim", integer(-1)),
        0.5 * sigmoid(2),
        -sigmoid(30),
        -0.25 * sigmoid(1.5),
        0);
    Pt2Builder swapped =
        model()
            .declare("p", "s0", 2)
            .declare("q", "s0", 2)
            .rawNode(
                "aten.split.Tensor",
                "s",
                List.of(tensors("p", "q")),
                "self",
                tensor("x"),
                "split_size",
                integer(2),
                "dim",
                integer(1))
            .node("aten.cat.default", "y", ROWS, "tensors", tensors("q", "p"), "dim", integer(-1))
            .output("y");
    assertClose(run(swapped), 2, 30, 0.5, -1, 1.5, -3, -0.25, 0);
    Pt2Builder chunks =
        model()
            .declare("p", "s0", 2)
            .declare("q", "s0", 2)
            .rawNode(
                "aten.chunk.default",
                "s",
                List.of(tensors("p", "q")),
                "self",
                tensor("x"),
                "chunks",
                integer(2),
                "dim",
                integer(1))
            .node("aten.mul.Tensor", "y", HALF, "self", tensor("p"), "other", tensor("q"))
            .output("y");
    assertClose(run(chunks), 1, -30, -0.375, 0);
  }

  @Test
  void looksAtDimensionsDifferently() {
    assertClose(apply("aten.view.default", ROWS, "size", integers(-1L, 4L)), X);
    assertClose(apply("aten.unsqueeze.default", List.of("s0", 1, 4), "dim", integer(1)), X);
    Pt2Builder there =
        model()
            .node(
                "aten.view.default",
                "r",
                List.of("s0", 2, 2),
                "self",
                tensor("x"),
                "size",
                integers(-1L, 2L, 2L))
            .node(
                "aten.flatten.using_ints",
                "y",
                ROWS,
                "self",
                tensor("r"),
                "start_dim",
                integer(1),
                "end_dim",
                integer(-1))
            .output("y");
    assertClose(run(there), X);
  }

  @Test
  void choosesAndCompares() {
    Pt2Builder model =
        model()
            .node("aten.gt.Scalar", "c", ROWS, "self", tensor("x"), "other", integer(0))
            .node(
                "aten.where.self",
                "y",
                ROWS,
                "condition",
                tensor("c"),
                "self",
                tensor("x"),
                "other",
                tensor("b"))
            .output("y");
    assertClose(run(model), 0.5, 1, 2, 30, 0.5, 1, 1.5, 2);
  }

  @Test
  void sizesAreKnownFromWhatIsSaidOfEachTensor() {
    Json size = Pt2Builder.one("as_sym_int", Json.object().with("as_name", "sym_size"));
    Json sizes =
        Pt2Builder.one(
            "as_sym_ints",
            new Json.Array(
                List.of(Json.object().with("as_name", "sym_size"), integer(2), integer(2))));
    Pt2Builder model =
        model()
            .rawNode(
                "aten.sym_size.int",
                "sym_size",
                List.of(size),
                "self",
                tensor("x"),
                "dim",
                integer(0))
            .node("aten.view.default", "r", List.of("s0", 2, 2), "self", tensor("x"), "size", sizes)
            .node(
                "aten.flatten.using_ints", "y", ROWS, "self", tensor("r"), "start_dim", integer(1))
            .output("y");
    assertClose(run(model), X);
  }
}
