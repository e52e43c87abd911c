package dev.warpwright.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.WorkloadReference;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.Workload;
import java.util.ArrayList;
import java.util.List;

/**
 * Holds what a kernel leaves in its outputs, which were poisoned before, against the reference of
 * its workload: every element is written, none is further off than rounding explains, and nothing
 * is written between rows that lie apart.
 */
final class ResultCheck {
  /** Rounding errors of sums, in units of typical elements: many of them, all in one direction. */
  private static final double SUMS = 8;

  private final BoundKernel bound;

  ResultCheck(BoundKernel bound) {
    this.bound = bound;
  }

  /** The right outputs for these inputs, in the workload's order. */
  List<double[]> expected(Arguments inputs) {
    return WorkloadReference.outputs(bound.workload(), inputs::get);
  }

  /** What is wrong with the outputs. */
  List<Finding> findings(Arguments after, List<double[]> expected) {
    List<Finding> findings = new ArrayList<>();
    List<Buffer> outputs = bound.workload().outputs();
    for (int i = 0; i < outputs.size(); i++) {
      // What the next product starts from is rounded in the reference, too, maybe the other way.
      int roundings = i < outputs.size() - 1 ? 2 : 1;
      Buffer output = outputs.get(i);
      new OutputCheck(bound.kernel().name(), output, bound.workload().kind())
          .compare(after.get(output), expected.get(i), allowance(output, roundings), findings);
    }
    return findings;
  }

  /** How far off an output may be that is rounded so often. */
  OutputCheck.Allowance allowance(Buffer output, int roundings) {
    return new OutputCheck.Allowance(
        roundings * rounding(output.dtype()), sums(output), bound.workload().tolerance());
  }

  /** What rounding the result moves an element by, relative to it. */
  private static double rounding(DType type) {
    return switch (type) {
      case F64 -> 1e-15;
      case F32 -> 0x1p-24;
      case F16 -> 0x1p-11;
      case BF16 -> 0x1p-8;
      case F8E4M3 -> 0x1p-4;
      case F8E5M2 -> 0x1p-3;
      case BOOL, I8, U8, I32, U32, I64, U64, MBARRIER, HANDLE -> 0;
    };
  }

  /** What rounding the sums moves an element by, in units of a typical one. */
  private double sums(Buffer output) {
    Workload workload = bound.workload();
    // A result between two products may round to either neighbour.
    double between =
        workload.outputs().size() > 1 ? rounding(workload.outputs().getFirst().dtype()) : 0;
    double products =
        switch (workload.arithmetic()) {
          case I32 -> output.dtype().isFloat() ? SUMS * 3e-6 : 0;
          case F64 -> 1e-14;
          case TF32 -> SUMS * 2e-3;
          case F32 ->
              workload.operands() == DType.F8E4M3 || workload.operands() == DType.F8E5M2
                  ? SUMS * 3e-2
                  : SUMS * 3e-6;
          case F16 -> SUMS * workload.tolerance();
        };
    return Math.max(between, products);
  }
}
