package dev.warpwright.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.kernels.LoweringSteps;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Kernels of networks after each pass. */
final class LoweringStepsTest {
  private static final long SEED = 3;

  private static Stream<Arguments> ways() {
    return Stream.of(
        Arguments.of(64, GpuTarget.SM_90A, Precision.F16, "register chaining", "AssignRoles"),
        Arguments.of(64, GpuTarget.SM_80, Precision.F16, "register chaining", "AssignRoles"),
        Arguments.of(64, GpuTarget.SM_75, Precision.F16, "shared chaining", "BarrierInsertion"));
  }

  @ParameterizedTest
  @MethodSource("ways")
  void theLastPassLeavesTheKernel(
      int width, GpuTarget target, Precision precision, String strategy, String pass) {
    Graph graph =
        RandomMlp.of(
            new Architecture.Mlp(List.of(width, width, width), List.of("relu")),
            true,
            precision.operand(),
            SEED);
    CompiledProgram program = NetworkCompiler.compile(graph, target, precision, 4096);
    assertThat(program.kernels())
        .extracting(CompiledKernel::strategy)
        .anyMatch(name -> name.startsWith(strategy));
    Set<String> passes = new HashSet<>();
    for (CompiledKernel kernel : program.kernels()) {
      List<LoweringSteps.Step> steps = LoweringSteps.of(program, kernel);
      steps.forEach(step -> passes.add(step.pass()));
      assertThat(body(steps.getLast().text())).isEqualTo(body(IrPrinter.text(kernel.kernel())));
    }
    assertThat(passes).contains(pass);
  }

  /** Kernels of a program are told apart by their names, which their tile programs have not. */
  private static String body(String text) {
    return text.substring(text.indexOf('('));
  }
}
