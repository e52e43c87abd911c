package dev.warpwright.cli.ladder;

import dev.warpwright.examples.ladder.RungReport;
import dev.warpwright.ir.type.DType;
import java.util.List;
import java.util.Locale;

/** The rungs as bars, in a file that can be read on light and on dark ground. */
final class LadderChart {
  private static final int LEFT = 150;
  private static final int WIDTH = 520;
  private static final int ROW = 26;
  private static final int TOP = 50;

  private LadderChart() {}

  /** The rungs in f32 or f64: beside tensor cores one would not see them. */
  static String svg(String title, List<RungReport> all) {
    List<RungReport> reports = all.stream().filter(r -> r.dtype() != DType.BF16).toList();
    String dtype = reports.isEmpty() ? "f32" : reports.getFirst().dtype().toString();
    double cublas =
        reports.stream()
            .filter(r -> !Double.isNaN(r.baselineUs()) && !Double.isNaN(r.timeUs()))
            .mapToDouble(r -> r.gflops() * r.timeUs() / r.baselineUs())
            .average()
            .orElse(Double.NaN);
    double most =
        Math.max(
            Double.isNaN(cublas) ? 0 : cublas,
            reports.stream()
                .mapToDouble(RungReport::gflops)
                .filter(Double::isFinite)
                .max()
                .orElse(1));
    int height = TOP + ROW * reports.size() + 34;
    StringBuilder svg = new StringBuilder();
    svg.append(
        String.format(
            Locale.ROOT,
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"\
             font-family="system-ui, sans-serif" font-size="13" role="img">
            <style>
            text { fill: #1f2328 } .bar { fill: #2f6fb3 } .guess { fill: #9aa7b5 }
            .line { stroke: #b35c1e } .note { fill: #b35c1e }
            @media (prefers-color-scheme: dark) {
            text { fill: #e6edf3 } .bar { fill: #6ea8e5 } .guess { fill: #6b7785 }
            .line { stroke: #f0a66b } .note { fill: #f0a66b }
            }
            </style>
            <title>%s</title>
            <text x="8" y="24" font-weight="600">%s, %s, GFLOP/s</text>
            """,
            LEFT + WIDTH + 80,
            height,
            LEFT + WIDTH + 80,
            height,
            escaped(title),
            escaped(title),
            dtype));
    int y = TOP;
    for (RungReport r : reports) {
      double rate = Double.isFinite(r.gflops()) ? r.gflops() : 0;
      double length = WIDTH * rate / most;
      svg.append(
          String.format(
              Locale.ROOT,
              """
              <text x="%d" y="%d" text-anchor="end">%s</text>
              <rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>
              <text x="%.1f" y="%d">%s</text>
              """,
              LEFT - 8,
              y + 14,
              escaped(r.name()),
              r.predicted() ? "guess" : "bar",
              LEFT,
              y + 2,
              Math.max(length, 1),
              ROW - 8,
              LEFT + length + 6,
              y + 14,
              r.failure() == null ? String.format(Locale.ROOT, "%.0f", rate) : "wrong"));
      y += ROW;
    }
    if (!Double.isNaN(cublas)) {
      double x = LEFT + WIDTH * cublas / most;
      svg.append(
          String.format(
              Locale.ROOT,
              """
              <line class="line" x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke-dasharray="4 3"/>
              <text class="note" x="%.1f" y="%d" text-anchor="end">cuBLAS %.0f</text>
              """,
              x,
              TOP - 6,
              x,
              y + 2,
              x,
              y + 18,
              cublas));
    }
    if (reports.stream().anyMatch(RungReport::predicted)) {
      svg.append(
          String.format(
              Locale.ROOT,
              "<text class=\"note\" x=\"%d\" y=\"%d\">predicted, not measured</text>%n",
              LEFT,
              y + 18));
    }
    return svg.append("</svg>\n").toString();
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
