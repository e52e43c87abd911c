package dev.warpwright.measure;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.Locale;

/**
 * Kernels that count on the device where an output differs from an earlier one. Parameters: the
 * output, the earlier one, and {@link #THREADS} counters that are added to.
 */
final class OutputComparison {
  /** Threads of the launch; each has a counter of type u32. */
  static final int THREADS = 1 << 14;

  private static final String TEXT =
      """
      kernel compare(x: TYPE[COUNT], y: TYPE[COUNT], bad: u32[16384]) grid(bx = 64) block(tx = 256) {
        let t: i32 = bx * 256 + tx
        alloc count: u32[] local
        count[] = 0u32
        for i in (COUNT - t + 16383) / 16384 {
          if DIFFERS {
            count[] = count[] + 1u32
          }
        }
        bad[t] = bad[t] + count[]
      }
      """;

  private OutputComparison() {}

  /** Counts words of 32 bits (bytes, if those do not fit) that are not equal. */
  static Kernel ofBits(Buffer output) {
    long bytes = BoundWorkload.bytes(output);
    boolean words = bytes % 4 == 0;
    return parse(
        words ? DType.U32 : DType.U8,
        words ? bytes / 4 : bytes,
        "x[i * 16384 + t] != y[i * 16384 + t]");
  }

  /**
   * Counts elements that differ by more than {@code limit · (scale + |earlier|)} or are NaN.
   *
   * @param scale the size of typical elements
   */
  static Kernel ofValues(Buffer output, double limit, double scale) {
    String difference =
        String.format(
            Locale.ROOT,
            "!(abs(f32(x[i * 16384 + t]) - f32(y[i * 16384 + t]))"
                + " <= %.9ff32 * (%.9ff32 + abs(f32(y[i * 16384 + t]))))",
            limit,
            scale);
    return parse(output.dtype(), output.storageElements(), difference);
  }

  private static Kernel parse(DType type, long count, String differs) {
    String text =
        TEXT.replace("TYPE", type.toString())
            .replace("COUNT", Long.toString(count))
            .replace("DIFFERS", differs);
    return new IrParser().kernel("compare", text);
  }
}
