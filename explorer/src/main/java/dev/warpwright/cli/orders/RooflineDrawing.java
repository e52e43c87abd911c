package dev.warpwright.cli.orders;

import dev.warpwright.perf.analyze.Analysis;
import java.util.List;
import java.util.Locale;

/** Draws rooflines, with a point where each part would be that reaches its bound. */
final class RooflineDrawing {
  private static final int WIDTH = 860;
  private static final int HEIGHT = 520;
  private static final int LEFT = 70;
  private static final int RIGHT = 190;
  private static final int TOP = 24;
  private static final int BOTTOM = 50;

  /** Decades of operations a byte, and of operations a second. */
  private static final int FIRST_X = -1;

  private static final int LAST_X = 4;
  private static final int FIRST_Y = 10;
  private static final int LAST_Y = 16;

  private static final List<String> COLOURS =
      List.of("#0b6e99", "#b3541e", "#3a7d44", "#7a4fa3", "#a33b5c", "#6b6b2a", "#2a6b6b");

  private RooflineDrawing() {}

  static String svg(List<Analysis> analyses) {
    var svg = new StringBuilder();
    add(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\""
            + " font-family=\"sans-serif\" font-size=\"12\">",
        WIDTH,
        HEIGHT);
    add(svg, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>");
    for (int decade = FIRST_X; decade <= LAST_X; decade++) {
      double x = x(Math.pow(10, decade));
      line(svg, x, TOP, x, HEIGHT - BOTTOM, "#dde3e7", 1);
      label(svg, x, HEIGHT - BOTTOM + 18, "middle", power(decade), "#444");
    }
    for (int decade = FIRST_Y; decade <= LAST_Y; decade++) {
      double y = y(Math.pow(10, decade));
      line(svg, LEFT, y, WIDTH - RIGHT, y, "#dde3e7", 1);
      label(svg, LEFT - 8, y + 4, "end", power(decade), "#444");
    }
    label(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, "middle", "operations a byte", "#222");
    label(svg, LEFT, TOP - 8, "start", "operations a second", "#222");
    for (int i = 0; i < analyses.size(); i++) {
      device(svg, analyses.get(i), COLOURS.get(i % COLOURS.size()), i);
    }
    return svg.append("</svg>\n").toString();
  }

  private static void device(StringBuilder svg, Analysis analysis, String colour, int index) {
    double peak = analysis.workload().type().peak(analysis.device());
    double bandwidth = analysis.device().dramGBs() * 1e9;
    double first = Math.pow(10, FIRST_X);
    double ridge = peak / bandwidth;
    line(svg, x(first), y(first * bandwidth), x(ridge), y(peak), colour, 2);
    line(svg, x(ridge), y(peak), WIDTH - RIGHT, y(peak), colour, 2);
    int y = TOP + 8 + index * 18;
    line(svg, WIDTH - RIGHT + 14, y - 4, WIDTH - RIGHT + 34, y - 4, colour, 3);
    label(svg, WIDTH - RIGHT + 40, y, "start", analysis.device().name(), "#222");
    for (Analysis.Line part : analysis.lines()) {
      double intensity = Math.clamp(part.part().intensity(), first, Math.pow(10, LAST_X));
      double rate = Math.min(peak, intensity * bandwidth);
      add(
          svg,
          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" fill=\"%s\"><title>%s: %s</title></circle>",
          x(intensity),
          y(rate),
          colour,
          part.part().name(),
          AnalyzeAction.time(part.totalBoundUs()));
    }
  }

  private static String power(int decade) {
    return "10<tspan dy=\"-5\" font-size=\"9\">" + decade + "</tspan>";
  }

  private static double x(double intensity) {
    return LEFT + (Math.log10(intensity) - FIRST_X) / (LAST_X - FIRST_X) * (WIDTH - LEFT - RIGHT);
  }

  private static double y(double rate) {
    double part = (Math.log10(rate) - FIRST_Y) / (LAST_Y - FIRST_Y);
    return HEIGHT - BOTTOM - Math.clamp(part, 0, 1) * (HEIGHT - TOP - BOTTOM);
  }

  private static void line(
      StringBuilder svg, double x1, double y1, double x2, double y2, String colour, int width) {
    add(
        svg,
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%d\"/>",
        x1,
        y1,
        x2,
        y2,
        colour,
        width);
  }

  private static void label(
      StringBuilder svg, double x, double y, String anchor, String text, String colour) {
    add(
        svg,
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>",
        x,
        y,
        anchor,
        colour,
        text);
  }

  private static void add(StringBuilder svg, String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
