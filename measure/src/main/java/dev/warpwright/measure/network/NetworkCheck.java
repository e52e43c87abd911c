package dev.warpwright.measure.network;

import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.network.NetworkMemory.Column;
import java.util.Locale;
import java.util.stream.IntStream;

/** Compares every element of a network's outputs with its reference. */
final class NetworkCheck {
  /** So many elements one task compares, or one row of more. */
  private static final int ELEMENTS = 1 << 16;

  private NetworkCheck() {}

  /** Elements in memory. */
  @FunctionalInterface
  interface Elements {
    double at(int place);
  }

  /** What a part of an output adds to the error. */
  private record Part(
      double squares, double norm, double maxAbs, Deviations worst, long nonFinite, long first) {
    static final Part NONE = new Part(0, 0, 0, Deviations.NONE, 0, Long.MAX_VALUE);

    Part plus(Part other) {
      return new Part(
          squares + other.squares,
          norm + other.norm,
          Math.max(maxAbs, other.maxAbs),
          worst.plus(other.worst),
          nonFinite + other.nonFinite,
          Math.min(first, other.first));
    }
  }

  /** Gathers the error of an output, of which rows come in any number of pieces. */
  static final class Sum {
    private final NetworkData data;
    private final Column column;
    private final int output;
    private final int set;
    private Part total = Part.NONE;

    Sum(NetworkData data, Column column, int output, int set) {
      this.data = data;
      this.column = column;
      this.output = output;
      this.set = set;
    }

    /** Adds rows that follow each other. */
    void add(int firstRow, int rows, Elements elements) {
      int height = Math.max(1, ELEMENTS / column.features());
      int tasks = Math.ceilDiv(rows, height);
      total =
          total.plus(
              IntStream.range(0, tasks)
                  .parallel()
                  .mapToObj(
                      task ->
                          part(
                              firstRow,
                              task * height,
                              Math.min(rows, (task + 1) * height),
                              elements))
                  .reduce(Part.NONE, Part::plus));
    }

    private Part part(int firstRow, int from, int to, Elements elements) {
      int n = column.features();
      double[] expected = data.expected().get(output);
      double[] deviation = data.deviations().get(output);
      int[] source = new int[to - from];
      for (int i = 0; i < source.length; i++) {
        source[i] = data.source(set, firstRow + from + i) * n;
      }
      double squares = 0;
      double norm = 0;
      double maxAbs = 0;
      long nonFinite = 0;
      long first = Long.MAX_VALUE;
      for (int row = from; row < to; row++) {
        for (int i = 0; i < n; i++) {
          double y = expected[source[row - from] + i];
          double x = elements.at(row * n + i);
          if (!Double.isFinite(x)) {
            nonFinite++;
            first = Math.min(first, (long) (firstRow + row) * n + i);
          }
          squares += (x - y) * (x - y);
          norm += y * y;
          maxAbs = Math.max(maxAbs, Math.abs(x - y));
        }
      }
      DType type = column.type();
      Deviations worst =
          Deviations.of(
              ErrorBound.of(type),
              place -> elements.at(from * n + place),
              place -> expected[source[place / n] + place % n],
              place -> deviation[source[place / n] + place % n],
              (to - from) * n,
              (long) (firstRow + from) * n,
              false);
      return new Part(squares, norm, maxAbs, worst, nonFinite, first);
    }

    NetworkError error() {
      int n = column.features();
      double relative = total.norm == 0 ? total.squares : Math.sqrt(total.squares / total.norm);
      long at = total.nonFinite > 0 ? total.first : total.worst.at();
      return new NetworkError(
          total.nonFinite > 0 ? Double.POSITIVE_INFINITY : relative,
          total.maxAbs,
          total.worst.element(),
          at < 0 ? "" : String.format(Locale.ROOT, "[%d, %d]", at / n, at % n),
          total.nonFinite);
    }
  }
}
