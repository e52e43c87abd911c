package dev.warpwright.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.measure.reference.WorkloadReference;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Holds what a kernel leaves in its outputs, which were poisoned before, against the reference of
 * its workload: every element is written, none is further off than rounding explains, and nothing
 * is written between rows that lie apart.
 */
final class ResultCheck {
  private final BoundKernel bound;

  ResultCheck(BoundKernel bound) {
    this.bound = bound;
  }

  /** The right outputs for these inputs, in the workload's order. */
  List<OutputCheck.Expected> expected(Arguments inputs) {
    return expected(inputs::get);
  }

  /** The same of arrays by buffer of the workload. */
  List<OutputCheck.Expected> expected(Function<Buffer, NdArray> arrays) {
    BoundWorkload workload = bound.workload();
    List<WorkloadReference.Output> right = WorkloadReference.outputs(workload, arrays);
    List<OutputCheck.Expected> expected = new ArrayList<>();
    for (int i = 0; i < right.size(); i++) {
      // What the next product starts from is rounded in the reference, too, maybe the other way.
      int roundings = i < right.size() - 1 ? 2 : 1;
      ErrorBound rounded = ErrorBound.of(workload.outputs().get(i).dtype()).times(roundings);
      expected.add(
          new OutputCheck.Expected(
              right.get(i).values(),
              right.get(i).deviations(),
              rounded,
              roundings == 1,
              workload.tolerance()));
    }
    return expected;
  }

  /** What is wrong with the outputs. */
  List<Finding> findings(Arguments after, List<OutputCheck.Expected> expected) {
    List<Finding> findings = new ArrayList<>();
    List<Buffer> outputs = bound.workload().outputs();
    for (int i = 0; i < outputs.size(); i++) {
      Buffer output = outputs.get(i);
      new OutputCheck(bound.kernel().name(), output, bound.workload().kind())
          .compare(after.get(output), expected.get(i), findings);
    }
    return findings;
  }
}
