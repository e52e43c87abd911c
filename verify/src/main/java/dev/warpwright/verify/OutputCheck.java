package dev.warpwright.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.type.DType;
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
   * What is right.
   *
   * @param deviations what honest arithmetic adds to each element before it is rounded
   * @param bound of elements, given that
   * @param grouped whether errors of neighbours are independent
   * @param all what ‖result − reference‖ / ‖reference‖ may be
   */
  record Expected(
      double[] values, double[] deviations, ErrorBound bound, boolean grouped, double all) {
    /** Of elements of this type, rounded once. */
    Expected(double[] values, double[] deviations, DType type, boolean grouped, double all) {
      this(values, deviations, ErrorBound.of(type), grouped, all);
    }

    boolean isRight(int i, double got) {
      return Deviations.ofElement(bound, got, values[i], deviations[i]) <= 1;
    }

    Deviations deviations(double[] got) {
      return Deviations.of(
          bound, i -> got[i], i -> values[i], i -> deviations[i], got.length, 0, grouped);
    }
  }

  /** Compares every element. */
  void compare(NdArray result, Expected expected, List<Finding> findings) {
    double[] got = result.toDoubles();
    double[] want = expected.values;
    double poison = poison();
    long unwritten = 0;
    long firstUnwritten = -1;
    long wrong = 0;
    int worst = -1;
    double worstBy = 0;
    for (int i = 0; i < got.length; i++) {
      if (expected.isRight(i, got[i])) {
        continue;
      }
      if (Double.compare(got[i], poison) == 0) {
        firstUnwritten = unwritten++ == 0 ? i : firstUnwritten;
      } else {
        double off = Math.abs(got[i] - want[i]);
        double by = Double.isNaN(off) ? Double.POSITIVE_INFINITY : off;
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
      Deviations together = expected.deviations(got);
      if (!together.honest()) {
        int columns = Math.toIntExact(output.extent(output.rank() - 1));
        findings.add(finding(Finding.Kind.RESULT, output.name(), together.text(columns)));
      }
      if (error > expected.all) {
        findings.add(
            finding(
                Finding.Kind.RESULT,
                output.name(),
                String.format(
                    Locale.ROOT,
                    "relative error %.2e, at most %.2e is right",
                    error,
                    expected.all)));
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
}
