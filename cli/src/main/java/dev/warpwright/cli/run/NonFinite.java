package dev.warpwright.cli.run;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Node;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.function.IntToDoubleFunction;

/** Says where numbers are NaN or infinite, since a network carries one such number everywhere. */
final class NonFinite {
  private static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;
  private static final ValueLayout.OfShort SHORT = JAVA_SHORT_UNALIGNED.withOrder(LE);
  private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(LE);

  /** Elements that are looked at together. */
  private static final int SCANNED = 1 << 14;

  private NonFinite() {}

  /** Tells of a matrix that came from {@code where}, if anything in it is not finite. */
  static void tell(
      String where, int count, int columns, IntToDoubleFunction at, Progress progress) {
    long bad = 0;
    int first = -1;
    for (int i = 0; i < count; i++) {
      if (!Double.isFinite(at.applyAsDouble(i))) {
        first = bad == 0 ? i : first;
        bad++;
      }
    }
    if (bad > 0) {
      progress.say(
          String.format(
              Locale.ROOT,
              "%s: %d of %d elements %s NaN or infinite, the first at [%d, %d]",
              where,
              bad,
              count,
              bad == 1 ? "is" : "are",
              first / columns,
              first % columns));
    }
  }

  /** Tells of the first weight of a network that is not finite throughout. */
  static void tell(String where, Graph graph, Progress progress) {
    for (Node node : graph.nodes()) {
      for (ConstantTensor tensor : node.constants()) {
        long first = first(tensor);
        if (first >= 0) {
          progress.say(
              String.format(
                  Locale.ROOT,
                  "%s: weight '%s' has the element %s; what depends on it will not be finite"
                      + " either",
                  where,
                  tensor.name(),
                  tensor.doubleAt(first)));
          return;
        }
      }
    }
  }

  /** The index of a constant's first element that is NaN or infinite, or -1 if there is none. */
  static long first(ConstantTensor tensor) {
    return switch (tensor.dtype()) {
      case F16 -> firstAtLeast(tensor, 0x7C00);
      case BF16 -> firstAtLeast(tensor, 0x7F80);
      case F32 -> firstAtLeast(tensor, 0x7F80_0000);
      case F64 -> {
        for (long i = 0; i < tensor.count(); i++) {
          if (!Double.isFinite(tensor.doubleAt(i))) {
            yield i;
          }
        }
        yield -1;
      }
      case BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE -> -1;
    };
  }

  /**
   * The first element of 16 or 32 bits that is at least as large as this without its sign. A block
   * at a time is copied, in which the JVM finds the largest with vector instructions.
   */
  private static long firstAtLeast(ConstantTensor tensor, int limit) {
    boolean wide = tensor.dtype().bytes() == 4;
    int[] ints = new int[wide ? SCANNED : 0];
    short[] shorts = new short[wide ? 0 : SCANNED];
    for (long at = 0; at < tensor.count(); at += SCANNED) {
      int length = (int) Math.min(SCANNED, tensor.count() - at);
      if (wide) {
        MemorySegment.copy(tensor.data(), INT, at * 4, ints, 0, length);
      } else {
        MemorySegment.copy(tensor.data(), SHORT, at * 2, shorts, 0, length);
      }
      int largest = wide ? largest(ints, length) : largest(shorts, length);
      for (int i = 0; largest >= limit && i < length; i++) {
        if ((wide ? ints[i] & 0x7FFF_FFFF : shorts[i] & 0x7FFF) >= limit) {
          return at + i;
        }
      }
    }
    return -1;
  }

  private static int largest(int[] bits, int length) {
    int largest = 0;
    for (int i = 0; i < length; i++) {
      largest = Math.max(largest, bits[i] & 0x7FFF_FFFF);
    }
    return largest;
  }

  private static int largest(short[] bits, int length) {
    int largest = 0;
    for (int i = 0; i < length; i++) {
      largest = Math.max(largest, bits[i] & 0x7FFF);
    }
    return largest;
  }
}
