package dev.warpwright.cli.orders;

import dev.warpwright.measure.orders.OrderMeasurement;
import dev.warpwright.measure.orders.Timeline;
import java.util.List;
import java.util.Locale;

/** Draws which SM computed what when: a row for each, a bar for each work item. */
final class TimelineDrawing {
  private static final int WIDTH = 960;
  private static final int LEFT = 56;
  private static final int RIGHT = 16;
  private static final int HEAD = 40;
  private static final int FOOT = 34;
  private static final int HEIGHT = 400;
  private static final int TICKS = 5;

  private TimelineDrawing() {}

  /** One below the other; the later in its order an item is, the lighter its bar. */
  static String svg(List<OrderMeasurement> measured) {
    List<OrderMeasurement> drawn = measured.stream().filter(m -> m.timeline() != null).toList();
    int each = HEAD + HEIGHT + FOOT;
    var svg = new StringBuilder();
    add(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\""
            + " font-family=\"sans-serif\" font-size=\"12\">",
        WIDTH,
        Math.max(1, drawn.size()) * each);
    add(svg, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>");
    for (int i = 0; i < drawn.size(); i++) {
      Timeline timeline = drawn.get(i).timeline();
      if (timeline != null) {
        one(svg, drawn.get(i), timeline, i * each + HEAD);
      }
    }
    return svg.append("</svg>\n").toString();
  }

  private static void one(StringBuilder svg, OrderMeasurement m, Timeline timeline, int top) {
    List<Integer> rows =
        timeline.events().stream().map(Timeline.Event::sm).distinct().sorted().toList();
    double scale = (WIDTH - LEFT - RIGHT) / (double) Math.max(1, timeline.end());
    double height = HEIGHT / (double) rows.size();
    int items = 1 + timeline.events().stream().mapToInt(Timeline.Event::item).max().orElse(0);
    add(
        svg,
        "<text x=\"%d\" y=\"%d\" fill=\"#222\">%s, tiles of %s, order %s, on %s</text>",
        LEFT,
        top - 14,
        m.shape().text(),
        m.tiling().text(),
        m.order().label(),
        escaped(m.device()));
    for (Timeline.Event e : timeline.events()) {
      double part = items == 1 ? 0 : e.item() / (double) (items - 1);
      add(
          svg,
          "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"hsl(196 %d%% %d%%)\">"
              + "<title>item %d, block %d</title></rect>",
          LEFT + e.begin() * scale,
          top + rows.indexOf(e.sm()) * height,
          Math.max(0.4, (e.end() - e.begin()) * scale - 0.5),
          Math.max(0.5, height - 0.3),
          80 - Math.round(40 * part),
          25 + Math.round(50 * part),
          e.item(),
          e.block());
    }
    for (int tick = 0; tick <= TICKS; tick++) {
      long at = timeline.end() * tick / TICKS;
      add(
          svg,
          "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#444\">%s</text>",
          LEFT + at * scale,
          top + HEIGHT + 18,
          switch (timeline.unit()) {
            case NS -> AnalyzeAction.time(at / 1e3);
            case TURNS -> at + " turns";
          });
    }
    add(
        svg,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#444\">SM %d</text>",
        LEFT - 6,
        top + 10,
        rows.getFirst());
    add(
        svg,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#444\">%d</text>",
        LEFT - 6,
        top + HEIGHT,
        rows.getLast());
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  private static void add(StringBuilder svg, String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
