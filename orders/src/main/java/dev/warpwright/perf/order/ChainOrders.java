package dev.warpwright.perf.order;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Orders in which two chained matmuls take turns, so that rows of the first result are read while
 * the cache still has them.
 *
 * <ul>
 *   <li>{@code rows:H}: H rows of C, then the same rows of E, column by column;
 *   <li>{@code halves}: half a row of C, half of the row of E before it, and the other halves;
 *   <li>{@code mixed:H}: the tiles of H rows of E in turn with those of the next H rows of C.
 * </ul>
 */
final class ChainOrders {
  private static final Pattern NAME = Pattern.compile("(?:(rows|mixed):([1-9]\\d{0,5})|halves)");

  private ChainOrders() {}

  /** Whether a name is of this form. */
  static boolean isOne(String name) {
    return NAME.matcher(name).matches();
  }

  /** The tiles of both results in this order; one at a time, it is one of the problem. */
  static List<WorkItem> of(TileProblem problem, String name) {
    Matcher matcher = NAME.matcher(name);
    if (!matcher.matches() || problem.chained() == 0) {
      throw new UserError("order '" + name + "' is one of two chained matmuls; give chained=");
    }
    String height = matcher.group(2);
    var orders = new Bands(problem, height == null ? 1 : Integer.parseInt(height));
    return matcher.group(1) == null
        ? orders.halves()
        : matcher.group(1).equals("rows") ? orders.rows() : orders.mixed();
  }

  private record Bands(TileProblem problem, int height) {
    int count() {
      return Math.ceilDiv(problem.rows(), height);
    }

    int width(int gemm) {
      return gemm == 0 ? problem.columns() : problem.chained();
    }

    /** Some columns of a band's rows, column by column; nothing if there is no such band. */
    List<WorkItem> part(int band, int gemm, int from, int to) {
      List<WorkItem> items = new ArrayList<>();
      if (band >= 0 && band < count()) {
        int bottom = Math.min(problem.rows(), (band + 1) * height);
        for (int column = from; column < to; column++) {
          for (int row = band * height; row < bottom; row++) {
            items.add(new WorkItem(gemm, row, column));
          }
        }
      }
      return items;
    }

    List<WorkItem> all(int band, int gemm) {
      return part(band, gemm, 0, width(gemm));
    }

    List<WorkItem> rows() {
      List<WorkItem> items = new ArrayList<>();
      for (int band = 0; band < count(); band++) {
        items.addAll(all(band, 0));
        items.addAll(all(band, 1));
      }
      return items;
    }

    List<WorkItem> halves() {
      int first = Math.ceilDiv(width(0), 2);
      int second = Math.ceilDiv(width(1), 2);
      List<WorkItem> items = new ArrayList<>(all(0, 0));
      for (int band = 1; band <= count(); band++) {
        items.addAll(part(band, 0, 0, first));
        items.addAll(part(band - 1, 1, 0, second));
        items.addAll(part(band, 0, first, width(0)));
        items.addAll(part(band - 1, 1, second, width(1)));
      }
      return items;
    }

    List<WorkItem> mixed() {
      List<WorkItem> items = new ArrayList<>(all(0, 0));
      for (int band = 1; band <= count(); band++) {
        List<WorkItem> first = all(band, 0);
        List<WorkItem> second = all(band - 1, 1);
        for (int i = 0; i < Math.max(first.size(), second.size()); i++) {
          if (i < second.size()) {
            items.add(second.get(i));
          }
          if (i < first.size()) {
            items.add(first.get(i));
          }
        }
      }
      return items;
    }
  }
}
