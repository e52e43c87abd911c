package dev.warpwright.verify;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.parallel.program.ParallelProgram;
import dev.warpwright.parallel.program.ParallelSimulation;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.synthetic.NetworkDeviation;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Runs a network on several simulated devices, under the sanitizers, and compares with its graph.
 */
final class ParallelCheck {
  private ParallelCheck() {}

  static CheckReport check(ParallelProgram parallel, CheckOptions options) {
    if (!options.scalars().isEmpty()) {
      throw new UserError(
          options.scalars().keySet() + ": a network's only scalar is its rows; give --batch");
    }
    List<float[]> inputs = new ArrayList<>();
    long seed = options.seed();
    for (Buffer input : parallel.inputs()) {
      inputs.add(
          NdArray.zeros(input.dtype(), parallel.rows(), input.extent(1))
              .fillRandom(seed++)
              .toFloats());
    }
    List<double[]> wide = inputs.stream().map(ParallelCheck::widen).toList();
    int rows = parallel.rows();
    List<double[]> right = GraphEvaluator.evaluate(parallel.graph(), rows, wide);
    List<double[]> deviations =
        NetworkDeviation.of(parallel.graph(), parallel.precision(), rows, wide);
    Set<Finding> findings = new LinkedHashSet<>();
    for (GridOptions order : options.orders()) {
      ParallelSimulation.Result result = new ParallelSimulation(parallel, order).run(inputs);
      List<Finding> found = new ArrayList<>(result.findings());
      for (int i = 0; found.isEmpty() && i < right.size(); i++) {
        Buffer output = parallel.outputs().get(i);
        new OutputCheck(parallel.program().name(), output, "its graph")
            .compare(
                NdArray.ofFloats(result.outputs().get(i), rows, output.extent(1))
                    .to(output.dtype()),
                new OutputCheck.Expected(
                    right.get(i),
                    deviations.get(i),
                    output.dtype(),
                    false,
                    parallel.precision().tolerance()),
                found);
      }
      findings.addAll(found);
    }
    return new CheckReport(
        parallel.program().name(),
        parallel.program().kernels().stream().map(Kernel::name).toList(),
        Map.of("gpus", (long) parallel.devices(), "rows", (long) rows),
        options.orders().size(),
        1,
        "its graph",
        List.copyOf(findings),
        CheckReport.OnDevice.NONE);
  }

  private static double[] widen(float[] values) {
    double[] wide = new double[values.length];
    for (int i = 0; i < wide.length; i++) {
      wide[i] = values[i];
    }
    return wide;
  }
}
