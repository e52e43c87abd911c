package dev.warpwright.measure.reference;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.workload.GemmDeviation;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.Locale;

/**
 * Kernels that judge a result on the device, so that it need not travel. Parameters: an output, the
 * reference in f64, its {@link GemmDeviation} in f32, and {@link #FIGURES} figures of {@link
 * #THREADS} threads each: sums of squared differences, sums of the reference's squares, the
 * greatest difference by its limit, the greatest sum of a group's squares by their variances. What
 * is not finite makes a sum not finite.
 */
public final class ErrorSum {
  /** Threads of the launch. */
  public static final int THREADS = 1 << 14;

  /** Figures of type f64 of each thread. */
  public static final int FIGURES = 4;

  private static final String TEXT =
      """
      kernel error_sum(x: TYPE[ELEMENTS], y: f64[COUNT], s: f32[COUNT], sums: f64[65536]) grid(bx = 64) block(tx = 256) {
        let t: i32 = bx * 256 + tx
        alloc errors: f64[] local
        alloc norm: f64[] local
        alloc worst: f64[] local
        alloc worst_group: f64[] local
        alloc group: f64[] local
        errors[] = 0f64
        norm[] = 0f64
        worst[] = 0f64
        worst_group[] = 0f64
        for i in (GROUPS - t + 16383) / 16384 {
          group[] = 0f64
          for e in min(64, COUNT - (i * 16384 + t) * 64) {
            let at: i32 = (i * 16384 + t) * 64 + e
            let v: f64 = y[at]
            let d: f64 = abs(f64(x[PLACE]) - v)
            let sigma: f64 = f64(s[at])
            errors[] = fma(d, d, errors[])
            norm[] = fma(v, v, norm[])
            if d != 0f64 {
              let limit: f64 = UNIT * (abs(v) + 16f64 * sigma) + 16f64 * sigma + TINY
              if d > limit * worst[] {
                worst[] = d / limit
              }
              group[] = group[] + d * d / (UNIT * v * (UNIT * v) / 3f64 + TINY * TINY / 3f64 + sigma * sigma)
            }
          }
          if (i * 16384 + t) * 64 + 64 <= COUNT {
            worst_group[] = max(worst_group[], group[])
          }
        }
        sums[t] = errors[]
        sums[t + 16384] = norm[]
        sums[t + 32768] = worst[]
        sums[t + 49152] = worst_group[]
      }
      """;

  private ErrorSum() {}

  /** Compares an output with its reference. */
  public static Kernel of(Buffer output) {
    ErrorBound bound = ErrorBound.of(output.dtype());
    long count = elements(output);
    String text =
        TEXT.replace("TYPE", output.dtype().toString())
            .replace("ELEMENTS", Long.toString(BoundWorkload.elements(output)))
            .replace("GROUPS", Long.toString(Math.ceilDiv(count, Deviations.GROUP)))
            .replace("COUNT", Long.toString(count))
            .replace("PLACE", element(output))
            .replace("UNIT", bound.unit() + "f64")
            .replace("TINY", bound.tiny() + "f64");
    return new IrParser().kernel("error_sum", text);
  }

  /** What the kernel's figures say. */
  public static OutputError error(double[] figures) {
    double errors = 0;
    double norm = 0;
    double worst = 0;
    double group = 0;
    for (int t = 0; t < THREADS; t++) {
      errors += figures[t];
      norm += figures[t + THREADS];
      worst = Math.max(worst, figures[t + 2 * THREADS]);
      group = Math.max(group, figures[t + 3 * THREADS]);
    }
    boolean finite = Double.isFinite(errors);
    return new OutputError(
        errors,
        norm,
        finite ? 0 : 1,
        -1,
        -1,
        new Deviations(
            worst, -1, Math.sqrt(group / Deviations.GROUP) / Deviations.GROUP_LIMIT, -1));
  }

  /** Where an element lies; the reference's rows follow each other. */
  private static String element(Buffer output) {
    String element = "at";
    if (output.layout() == null) {
      return element;
    }
    long columns = output.extent(output.rank() - 1);
    long pitch = MatrixRows.leadingDimension(output);
    if (output.rank() == 2) {
      return String.format(
          Locale.ROOT, "(%1$s) / %2$d * %3$d + (%1$s) %% %2$d", element, columns, pitch);
    }
    return String.format(
        Locale.ROOT,
        "(%1$s) / %2$d * %3$d + (%1$s) %% %2$d / %4$d * %5$d + (%1$s) %% %4$d",
        element,
        output.extent(1) * columns,
        MatrixRows.distance(output),
        columns,
        pitch);
  }

  private static long elements(Buffer output) {
    return BoundWorkload.rows(output) * output.extent(output.rank() - 1);
  }
}
