package dev.warpwright.verify;

import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.measure.WorkloadReference;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What programs should compute, independent of what makes and executes their kernels. */
final class References {
  /** Rounding errors of elements, in units of the error that is right on average. */
  private static final double WORST = 8;

  private References() {}

  /** The workload that a program's meaning names; null for none. */
  static ProgramCheck.@Nullable Reference of(CheckSubject.OfProgram subject) {
    Kernel meaning = subject.meaning();
    if (meaning == null) {
      return null;
    }
    BoundKernel bound = BoundKernel.of(meaning, Map.of());
    Map<String, Buffer> byName = new HashMap<>();
    for (Program.ProgramParam param : subject.program().params()) {
      if (param.param() instanceof Buffer buffer) {
        byName.put(buffer.name(), buffer);
      }
    }
    ResultCheck results = new ResultCheck(bound);
    return new ProgramCheck.Reference(
        bound.workload().kind(),
        arguments ->
            WorkloadReference.outputs(
                bound.workload(),
                buffer -> arguments.get(Objects.requireNonNull(byName.get(buffer.name())))),
        output -> results.allowance(output, 1));
  }

  /** The graph of a network in f64, no intermediate rounded; null without a graph. */
  static ProgramCheck.@Nullable Reference of(CheckSubject.OfNetwork subject, int rows) {
    Graph graph = subject.graph();
    if (graph == null) {
      return null;
    }
    CompiledProgram network = subject.network();
    double tolerance = network.precision().tolerance();
    return new ProgramCheck.Reference(
        "its graph",
        arguments ->
            GraphEvaluator.evaluate(
                graph,
                rows,
                network.network().inputs().stream()
                    .map(input -> arguments.get(input).toDoubles())
                    .toList()),
        output -> new OutputCheck.Allowance(0, WORST * tolerance, tolerance));
  }
}
