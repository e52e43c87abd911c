package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Value;
import dev.warpwright.synthetic.Reference;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Pointwise;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Models of several outputs from Java: by name, on the CPU and on a simulated GPU. */
class SeveralOutputsTest {
  private static final List<Dim> ROWS = List.of(new Dim.Symbolic("rows"));
  private static final int INPUTS = 20;

  private static Value value(String name, int features) {
    return new Value(name, DType.F32, features, ROWS);
  }

  private static Linear linear(Random random, Value from, Value to) {
    double[] weights = random.doubles((long) from.features() * to.features(), -0.3, 0.3).toArray();
    List<Long> shape = List.of((long) to.features(), (long) from.features());
    ConstantTensor weight = ConstantTensor.ofDoubles("w", DType.F32, shape, weights);
    return new Linear(to, from, weight, null, "linear");
  }

  private static Elementwise op(Pointwise op, Value from, Value to) {
    return new Elementwise(to, op, List.of(new Operand.OfValue(from)), op.text());
  }

  /**
   * A trunk that is an output and has two heads; the input is an output, and one head is two. Of
   * the outputs the last computed one comes first.
   */
  private static Model heads() {
    Random random = new Random(3);
    Value x = value("x", INPUTS);
    Value product = value("product", 33);
    Value trunk = value("trunk", 33);
    Value policy = value("policy", 7);
    Value score = value("score", 1);
    Value again = value("again", 7);
    Value same = value("same", INPUTS);
    return new Model(
        new Graph(
            "heads",
            List.of(x),
            List.of(score, policy, trunk, again, same),
            List.of(
                linear(random, x, product),
                op(Activation.TANH, product, trunk),
                linear(random, trunk, policy),
                op(ElementwiseOp.IDENTITY, policy, again),
                op(ElementwiseOp.IDENTITY, x, same),
                linear(random, trunk, score))));
  }

  private static float[] rows(int rows) {
    Random random = new Random(rows);
    float[] x = new float[rows * INPUTS];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }

  private static void assertRight(Model model, CompiledModel compiled, int rows) {
    float[] x = rows(rows);
    Map<String, float[]> y = compiled.runAll(x);
    assertThat(y.keySet()).containsExactly("score", "policy", "trunk", "again", "same");
    List<double[]> expected = new Reference(model.graph()).outputs(rows, List.of(x));
    int i = 0;
    for (Map.Entry<String, float[]> output : y.entrySet()) {
      double[] wanted = expected.get(i++);
      double worst = 0;
      for (int e = 0; e < wanted.length; e++) {
        worst = Math.max(worst, Math.abs(output.getValue()[e] - wanted[e]));
      }
      assertThat(output.getValue()).as(output.getKey()).hasSize(wanted.length);
      assertThat(worst).as(output.getKey()).isLessThan(10 * compiled.precision().tolerance());
    }
    assertThat(y.get("again")).isEqualTo(y.get("policy"));
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "F16", "BF16"})
  void allAreRightOnTheCpu(Precision precision) {
    Model model = heads();
    try (CpuDevice device = new CpuDevice();
        CompiledModel compiled = model.compile(device, precision)) {
      for (int rows : new int[] {1, 5, 130}) {
        assertRight(model, compiled, rows);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "BF16"})
  void allAreRightInOneKernelOfASimulatedGpu(Precision precision) {
    Model model = heads();
    try (Device device = new SimulatedDevice(GpuTarget.SM_80);
        CompiledModel compiled = model.compile(device, precision)) {
      assertRight(model, compiled, 19);
      CompiledProgram program = compiled.program(19);
      assertThat(program.kernels()).hasSize(1);
      assertThat(compiled.executable(19).findings()).isEmpty();
    }
  }

  /** Behind the layer that makes it each is stored, while its rows go on. */
  @ParameterizedTest
  @CsvSource({"sm_80, BF16", "sm_90a, F16", "sm_90a, TF32"})
  void allAreRightFromRegisters(String target, Precision precision) {
    Model model = heads();
    try (Device device = new SimulatedDevice(GpuTarget.find(target).orElseThrow());
        CompiledModel compiled = model.compile(device, precision)) {
      assertRight(model, compiled, 70);
      assertThat(compiled.program(70).kernels())
          .singleElement()
          .satisfies(
              kernel ->
                  assertThat(kernel.strategy())
                      .as(kernel.why())
                      .isEqualTo(CompiledKernel.REGISTER_CHAINING));
      assertThat(compiled.executable(70).findings()).isEmpty();
    }
  }

  @Test
  void namesAreKnownAndWhatTakesOneOutputSaysSo() {
    Model model = heads();
    try (CpuDevice device = new CpuDevice();
        CompiledModel compiled = model.compile(device)) {
      assertThat(compiled.outputs())
          .extracting(Value::name)
          .containsExactly("score", "policy", "trunk", "again", "same");
      assertThatThrownBy(() -> compiled.run(rows(2)))
          .isInstanceOf(UserError.class)
          .hasMessage(
              "the model has 5 outputs: 'score', 'policy', 'trunk', 'again', 'same'; runAll takes"
                  + " and gives them by name");
      assertThatThrownBy(() -> compiled.runAll(Map.of("z", rows(2))))
          .isInstanceOf(UserError.class)
          .hasMessage("the model has no input 'z'; it needs 'x' of 20 features");
      assertThatThrownBy(() -> compiled.runAll(Map.of()))
          .isInstanceOf(UserError.class)
          .hasMessage("there is nothing for the model's input 'x'; it needs 'x' of 20 features");
      assertThatThrownBy(() -> compiled.runAll(Map.of("x", rows(2), "z", rows(2))))
          .isInstanceOf(UserError.class)
          .hasMessage("the model has no input 'z'; it needs 'x' of 20 features");
      assertThatThrownBy(() -> compiled.runAll(new float[INPUTS + 1]))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("no whole rows of 20 features");
    }
  }
}
