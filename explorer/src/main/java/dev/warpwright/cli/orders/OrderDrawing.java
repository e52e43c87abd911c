package dev.warpwright.cli.orders;

import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.order.WorkItem;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Draws an order: as numbers in a grid, and as arrows. */
final class OrderDrawing {
  private static final int LARGEST = 32;
  private static final int CELL = 44;

  /** A part of a tile is at least so wide. */
  private static final int SLICE = 22;

  private static final int MARGIN = 28;

  private OrderDrawing() {}

  /**
   * When each tile is computed, of the second result a grid for each part of its K; nothing for
   * grids that would not fit on a screen.
   */
  static List<String> numbers(TileProblem problem, List<WorkItem> order) {
    List<String> lines = new ArrayList<>();
    if (Math.max(problem.columns(), Math.max(problem.rows(), problem.chained())) > LARGEST) {
      return lines;
    }
    numbers(problem, order, 0, 0, lines);
    for (int part = 0; problem.chained() > 0 && part < problem.parts(); part++) {
      lines.add("");
      numbers(problem, order, 1, part, lines);
    }
    return lines;
  }

  private static void numbers(
      TileProblem problem, List<WorkItem> order, int gemm, int part, List<String> lines) {
    int[][] step = new int[problem.rows()][gemm == 0 ? problem.columns() : problem.chained()];
    for (int i = 0; i < order.size(); i++) {
      WorkItem item = order.get(i);
      if (item.gemm() == gemm && item.part() == part) {
        step[item.row()][item.column()] = i;
      }
    }
    for (int[] row : step) {
      var line = new StringBuilder();
      for (int number : row) {
        line.append(String.format(Locale.ROOT, "%5d", number));
      }
      lines.add(line.toString());
    }
  }

  /**
   * A picture: tiles with their numbers, those of the second result cut into their parts; the path
   * through them with an arrow at each step, dashed from one result to the other.
   */
  static String svg(TileProblem problem, List<WorkItem> order) {
    int second = problem.columns() * CELL + 2 * MARGIN;
    int slice = Math.max(CELL / problem.parts(), SLICE);
    int across = slice * problem.parts();
    int width = second + (problem.chained() > 0 ? problem.chained() * across + 2 * MARGIN : 0);
    int height = problem.rows() * CELL + 2 * MARGIN;
    var svg = new StringBuilder();
    svg.append(
        String.format(
            Locale.ROOT,
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif">
            <defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" \
            orient="auto"><path d="M0 0 8 4 0 8z" fill="#0b6e99"/></marker></defs>
            <rect width="100%%" height="100%%" fill="#fff"/>
            """,
            width,
            height));
    for (int i = 0; i < order.size(); i++) {
      WorkItem item = order.get(i);
      int x = x(item, second, slice, across);
      int y = MARGIN + item.row() * CELL;
      svg.append(
          String.format(
              Locale.ROOT,
              """
              <rect x="%d" y="%d" width="%d" height="%d" fill="#eef3f6" stroke="#b8c6ce"/>\
              <text x="%d" y="%d" font-size="10" fill="#5b6b75">%d</text>
              """,
              x,
              y,
              item.gemm() == 0 ? CELL : slice,
              CELL,
              x + 4,
              y + 12,
              i));
    }
    for (int i = 1; i < order.size(); i++) {
      WorkItem from = order.get(i - 1);
      WorkItem to = order.get(i);
      svg.append(
          String.format(
              Locale.ROOT,
              """
              <line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#0b6e99" stroke-width="%s" \
              marker-end="url(#a)"/>
              """,
              x(from, second, slice, across) + (from.gemm() == 0 ? CELL : slice) / 2,
              MARGIN + from.row() * CELL + CELL / 2,
              x(to, second, slice, across) + (to.gemm() == 0 ? CELL : slice) / 2,
              MARGIN + to.row() * CELL + CELL / 2,
              from.gemm() == to.gemm() ? "1.6" : "0.8\" stroke-dasharray=\"4 3"));
    }
    return svg.append("</svg>\n").toString();
  }

  /**
   * The left edge of an item.
   *
   * @param second where the second result begins
   * @param across width of one of its tiles, of which each part takes a slice
   */
  private static int x(WorkItem item, int second, int slice, int across) {
    return item.gemm() == 0
        ? MARGIN + item.column() * CELL
        : MARGIN + second + item.column() * across + item.part() * slice;
  }
}
