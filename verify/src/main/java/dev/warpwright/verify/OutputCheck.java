package dev.warpwright.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Verification;
import dev.warpwright.sim.api.Finding;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;

/**
 * Looks at one output, which was poisoned before: whether every element is written, none is further
 * off its reference than rounding explains, and nothing is written between rows that lie apart.
 *
 * @param kernel the name in findings
 * @param reference what gives the right values, for findings
 */
record OutputCheck(String kernel, Buffer output, String reference) {
  /**
   * How far off a result may be.
   *
   * @param rounding of an element, relative to it
   * @param sums what rounding before that moves an element by, in units of a typical one
   * @param all ‖result − reference‖ / ‖reference‖
   */
  record Allowance(double rounding, double sums, double all) {}

  /** Compares every element. */
  void compare(NdArray result, double[] want, Allowance allowance, List<Finding> findings) {
    double[] got = result.toDoubles();
    double sums = allowance.sums * typical(want);
    double poison = poison();
    long unwritten = 0;
    long firstUnwritten = -1;
    long wrong = 0;
    int worst = -1;
    double worstBy = 0;
    for (int i = 0; i < got.length; i++) {
      double off = Math.abs(got[i] - want[i]);
      double allowed = allowance.rounding * Math.abs(want[i]) + sums;
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
    unwritten(result, unwritten, firstUnwritten, findings);
    if (wrong > 0) {
      findings.add(
          finding(
              Finding.Kind.RESULT,
              element(result, worst),
              String.format(
                  Locale.ROOT,
                  "is %.6g, %s gives %.6g; %d of %d elements are further off than by rounding",
                  got[worst],
                  reference,
                  want[worst],
                  wrong,
                  got.length)));
    } else if (unwritten == 0) {
      double error = Verification.compare(got, want).relError();
      if (error > allowance.all) {
        findings.add(
            finding(
                Finding.Kind.RESULT,
                output.name(),
                String.format(
                    Locale.ROOT,
                    "relative error %.2e, at most %.2e is right",
                    error,
                    allowance.all)));
      }
    }
    between(result, findings);
  }

  /** Bytes that outputs hold before another run, to tell unwritten elements from computed ones. */
  static void refill(NdArray array) {
    Arrays.fill(array.bytes(), (byte) 0x3A);
  }

  /** Whether any element still is as it was before, poisoned. */
  boolean mayBeUnwritten(NdArray result) {
    return unchanged(result, NdArray.zeros(output.dtype(), 1).poison()).cardinality() > 0;
  }

  /**
   * Without a reference: elements that are as they were before in two runs on the same data are not
   * written.
   *
   * @param result of a run whose outputs were poisoned before
   * @param again of one where they were {@linkplain #refill filled with something else}
   */
  void isWritten(NdArray result, NdArray again, List<Finding> findings) {
    NdArray other = NdArray.zeros(output.dtype(), 1);
    refill(other);
    BitSet places = unchanged(result, NdArray.zeros(output.dtype(), 1).poison());
    places.and(unchanged(again, other));
    unwritten(result, places.cardinality(), places.nextSetBit(0), findings);
  }

  /** Where an element still has the bits of this one. */
  private BitSet unchanged(NdArray result, NdArray before) {
    int width = output.dtype().bytes();
    byte[] bytes = result.bytes();
    BitSet places = new BitSet();
    for (int i = 0; i < result.size(); i++) {
      int at = result.offset(result.coordinates(i)) * width;
      places.set(i, Arrays.equals(bytes, at, at + width, before.bytes(), 0, width));
    }
    return places;
  }

  private void unwritten(NdArray result, long count, long first, List<Finding> findings) {
    if (count > 0) {
      findings.add(
          finding(
              Finding.Kind.UNWRITTEN,
              element(result, first),
              String.format(Locale.ROOT, "the first of %d of %d", count, result.size())));
    }
  }

  /** Memory between rows that lie apart is nobody's to write. */
  private void between(NdArray result, List<Finding> findings) {
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

  private double poison() {
    return NdArray.zeros(output.dtype(), 1).poison().element(0);
  }

  private Finding finding(Finding.Kind kind, String element, String detail) {
    return new Finding(kind, kernel, 0, "", "", element, detail);
  }

  private String element(NdArray array, long position) {
    return output.name() + Arrays.toString(array.coordinates(position));
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
