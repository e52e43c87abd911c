package dev.warpwright.compiler.check;

import dev.warpwright.compiler.bench.BoundKernel;
import dev.warpwright.compiler.bench.Workload;
import dev.warpwright.compiler.bench.WorkloadReference;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Finding;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Verification;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

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
      compare(outputs.get(i), roundings, after.get(outputs.get(i)), expected.get(i), findings);
    }
    return findings;
  }

  private void compare(
      Buffer output, int roundings, NdArray result, double[] want, List<Finding> findings) {
    double[] got = result.toDoubles();
    double typical = typical(want);
    double rounding = roundings * rounding(output.dtype());
    double sums = sums(output) * typical;
    double poison = NdArray.zeros(output.dtype(), 1).poison().element(0);
    long unwritten = 0;
    long firstUnwritten = -1;
    long wrong = 0;
    int worst = -1;
    double worstBy = 0;
    for (int i = 0; i < got.length; i++) {
      double off = Math.abs(got[i] - want[i]);
      double allowed = rounding * Math.abs(want[i]) + sums;
      if (off <= allowed || Double.compare(got[i], want[i]) == 0) {
        continue;
      }
      if (Double.compare(got[i], poison) == 0) {
        firstUnwritten = unwritten++ == 0 ? i : firstUnwritten;
      } else {
        double by = Double.isNaN(off) ? Double.POSITIVE_INFINITY : off - allowed;
        if (wrong++ == 0 || by > worstBy) {
          worst = i;
          worstBy = by;
        }
      }
    }
    if (unwritten > 0) {
      findings.add(
          finding(
              Finding.Kind.UNWRITTEN,
              element(output, result, firstUnwritten),
              String.format(Locale.ROOT, "the first of %d of %d", unwritten, got.length)));
    }
    if (wrong > 0) {
      findings.add(
          finding(
              Finding.Kind.RESULT,
              element(output, result, worst),
              String.format(
                  Locale.ROOT,
                  "is %.6g, %s gives %.6g; %d of %d elements are further off than by rounding",
                  got[worst],
                  bound.workload().kind(),
                  want[worst],
                  wrong,
                  got.length)));
    } else if (unwritten == 0) {
      double error = Verification.compare(got, want).relError();
      if (error > bound.workload().tolerance()) {
        findings.add(
            finding(
                Finding.Kind.RESULT,
                output.name(),
                String.format(
                    Locale.ROOT,
                    "relative error %.2e, at most %.2e is right",
                    error,
                    bound.workload().tolerance())));
      }
    }
    between(output, result, findings);
  }

  /** Memory between rows that lie apart is nobody's to write. */
  private void between(Buffer output, NdArray result, List<Finding> findings) {
    if (output.layout() == null) {
      return;
    }
    int width = output.dtype().bytes();
    byte[] bytes = result.bytes();
    byte[] poison = NdArray.of(output).poison().bytes();
    for (int i = 0; i < result.size(); i++) {
      int at = result.offset(result.coordinates(i)) * width;
      System.arraycopy(bytes, at, poison, at, width);
    }
    int at = Arrays.mismatch(bytes, poison);
    if (at >= 0) {
      findings.add(
          finding(
              Finding.Kind.RESULT,
              output.name(),
              "is written between its rows, in place " + at / width));
    }
  }

  private Finding finding(Finding.Kind kind, String element, String detail) {
    return new Finding(kind, bound.kernel().name(), 0, "", "", element, detail);
  }

  private static String element(Buffer output, NdArray array, long position) {
    return output.name() + Arrays.toString(array.coordinates(position));
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

  /** The root of the mean square. */
  private static double typical(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value * value;
    }
    return values.length == 0 ? 0 : Math.sqrt(sum / values.length);
  }
}
