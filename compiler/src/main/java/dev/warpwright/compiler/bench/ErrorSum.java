package dev.warpwright.compiler.bench;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.target.MatrixRows;
import java.util.Locale;

/**
 * Kernels that sum squares on the device, so that a result need not travel to be judged.
 * Parameters: an output (if there is a difference), the reference in f64, and {@link #THREADS}
 * partial sums. What is not finite makes a sum not finite.
 */
final class ErrorSum {
  /** Threads of the launch; each has a sum of type f64. */
  static final int THREADS = 1 << 14;

  private static final String TEXT =
      """
      kernel NAME(PARAMETER y: f64[COUNT], sums: f64[16384]) grid(bx = 64) block(tx = 256) {
        let t: i32 = bx * 256 + tx
        alloc sum: f64[] local
        sum[] = 0f64
        for i in (COUNT - t + 16383) / 16384 {
          let d: f64 = VALUE
          sum[] = fma(d, d, sum[])
        }
        sums[t] = sum[]
      }
      """;

  private ErrorSum() {}

  /** Of the differences between an output and its reference. */
  static Kernel ofDifference(Buffer output) {
    return parse(
        "error_sum",
        String.format(Locale.ROOT, "x: %s[%d],", output.dtype(), Workload.elements(output)),
        String.format(Locale.ROOT, "f64(x[%s]) - y[i * 16384 + t]", element(output)),
        elements(output));
  }

  /** Where an element lies; the reference's rows follow each other. */
  private static String element(Buffer output) {
    String element = "i * 16384 + t";
    if (output.layout() == null) {
      return element;
    }
    long columns = output.extent(output.rank() - 1);
    long pitch = MatrixRows.pitch(output);
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
    return Workload.rows(output) * output.extent(output.rank() - 1);
  }

  /** Of the reference itself. */
  static Kernel ofReference(Buffer output) {
    return parse("norm_sum", "", "y[i * 16384 + t]", elements(output));
  }

  private static Kernel parse(String name, String parameter, String value, long count) {
    String text =
        TEXT.replace("NAME", name)
            .replace("PARAMETER", parameter)
            .replace("VALUE", value)
            .replace("COUNT", Long.toString(count));
    return new IrParser().kernel(name, text);
  }
}
