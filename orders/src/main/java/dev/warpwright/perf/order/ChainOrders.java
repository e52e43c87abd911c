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
 *   <li>{@code mixed:H}: the tiles of H rows of E in turn with those of the next H rows of C;
 *   <li>{@code partial:P}: one of P parts of a row of C, then what it adds to the row of E, and so
 *       on; {@code partial:P:H} with H rows, column by column.
 * </ul>
 */
final class ChainOrders {
  private static final String NUMBER = ":([1-9]\\d{0,5})";
  private static final Pattern NAME =
      Pattern.compile(
          "(?:(rows|mixed)" + NUMBER + "|halves|partial" + NUMBER + "(?:" + NUMBER + ")?)");

  private ChainOrders() {}

  /** Whether a name is of this form. */
  static boolean isOne(String name) {
    return NAME.matcher(name).matches();
  }

  /** Into how many parts this order splits the K of the second matmul, at most its blocks. */
  static int parts(TileProblem problem, String name) {
    Matcher matcher = NAME.matcher(name);
    return matcher.matches() && matcher.group(3) != null
        ? Math.min(Integer.parseInt(matcher.group(3)), problem.columns())
        : 1;
  }

  /**
   * The tiles of both results in this order; one at a time, it is one of the problem.
   *
   * @param problem in as many parts as {@link #parts}
   */
  static List<WorkItem> of(TileProblem problem, String name) {
    Matcher matcher = NAME.matcher(name);
    if (!matcher.matches() || problem.chained() == 0) {
      throw new UserError("order '" + name + "' is one of two chained matmuls; give chained=");
    }
    if (matcher.group(3) != null) {
      String height = matcher.group(4);
      return partial(problem, height == null ? 1 : Integer.parseInt(height));
    }
    String height = matcher.group(2);
    var orders = new Bands(problem, height == null ? 1 : Integer.parseInt(height));
    return matcher.group(1) == null
        ? orders.halves()
        : matcher.group(1).equals("rows") ? orders.rows() : orders.mixed();
  }

  /** Part after part of so many rows of the first result, each with what it adds to the second. */
  static List<WorkItem> partial(TileProblem problem, int height) {
    return new Bands(problem, height).partial();
  }

  private record Bands(TileProblem problem, int height) {
    int count() {
      return Math.ceilDiv(problem.rows(), height);
    }

    int width(int gemm) {
      return gemm == 0 ? problem.columns() : problem.chained();
    }

    /** Some columns of a band's rows, column by column; nothing if there is no such band. */
    List<WorkItem> columns(int band, int gemm, int part, int from, int to) {
      List<WorkItem> items = new ArrayList<>();
      if (band >= 0 && band < count()) {
        int bottom = Math.min(problem.rows(), (band + 1) * height);
        for (int column = from; column < to; column++) {
          for (int row = band * height; row < bottom; row++) {
            items.add(new WorkItem(gemm, row, column, part));
          }
        }
      }
      return items;
    }

    List<WorkItem> all(int band, int gemm) {
      return columns(band, gemm, 0, 0, width(gemm));
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
        items.addAll(columns(band, 0, 0, 0, first));
        items.addAll(columns(band - 1, 1, 0, 0, second));
        items.addAll(columns(band, 0, 0, first, width(0)));
        items.addAll(columns(band - 1, 1, 0, second, width(1)));
      }
      return items;
    }

    List<WorkItem> partial() {
      List<WorkItem> items = new ArrayList<>();
      for (int band = 0; band < count(); band++) {
        for (int part = 0; part < problem.parts(); part++) {
          items.addAll(columns(band, 0, 0, problem.partBegin(part), problem.partBegin(part + 1)));
          items.addAll(columns(band, 1, part, 0, width(1)));
        }
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
