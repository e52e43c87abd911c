package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Networks whose neighbours share a reciprocal, with sums for which exponentials overflow. */
class SharedReciprocalChainTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mlp:64,64,64,16:silu      | f16  | true  | 70 | 1   | sm_90a",
        "mlp:48,80,16:silu         | bf16 | false | 70 | 300 | sm_90a",
        "mlp:30,41,127,18:silu     | f16  | true  | 70 | 300 | sm_90a", // masked columns
        "mlp:3,64,48,5:silu        | bf16 | true  | 33 | 300 | sm_90a", // formulas of inputs
        "mlp:64,64,64:sigmoid      | f16  | true  | 70 | 300 | sm_90a",
        "mlp:22,45,61,9:sigmoid    | bf16 | true  | 65 | 300 | sm_80",
        "mlp:64,96,64:tanh         | f16  | false | 33 | 100 | sm_80",
      })
  void oneReciprocalForTwoElements(
      String architecture, String type, boolean bias, int rows, float scale, String target) {
    Graph graph =
        RandomMlp.of((Architecture.Mlp) Architecture.parse(architecture), bias, DType.F32, 7);
    Precision precision = Precision.parse(type);
    float[] x = HonestResults.inputs(graph, rows, scale);
    try (CompiledModel model =
        new CompiledModel(
            graph, new SimulatedDevice(GpuTarget.find(target).orElseThrow()), precision)) {
      CompiledKernel kernel = model.program(rows).kernels().getFirst();
      assertThat(kernel.strategy()).as(kernel.why()).isEqualTo("register chaining");
      String text = IrPrinter.text(kernel.kernel());
      assertThat(count(text, "exp2_approx("))
          .isPositive()
          .isEqualTo(2 * count(text, "rcp_approx("));
      float[] y = model.run(x);
      assertThat(model.executable(rows).findings()).isEmpty();
      HonestResults.assertRight(architecture, graph, precision, precision.operand(), rows, x, y);
    }
  }

  private static int count(String text, String part) {
    return text.split(Pattern.quote(part), -1).length - 1;
  }
}
