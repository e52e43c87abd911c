package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Csv;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.measure.orders.ChainMeasurement;
import dev.warpwright.measure.orders.ChainMeasurer;
import dev.warpwright.measure.orders.OrderMeasurement.Counters;
import dev.warpwright.measure.orders.OrderMeasurer;
import dev.warpwright.measure.orders.Timeline;
import dev.warpwright.perf.analyze.ChainPrediction;
import dev.warpwright.perf.analyze.Part.GemmShape;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.FfnWorkload;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Measures orders of two chained products, beside what is predicted of them. */
final class ChainMeasureAction {
  private ChainMeasureAction() {}

  static Report perform(ChainMeasureRequest request, Progress progress) {
    var watcher =
        new OrderMeasurer.Watcher() {
          @Override
          public boolean cancelled() {
            return false;
          }

          @Override
          public void say(String line) {
            progress.say(line);
          }
        };
    List<ChainMeasurement> measured =
        request.simulated()
            ? ChainMeasurer.inSimulator(request.what(), request.gpu(), watcher)
            : ChainMeasurer.onGpu(request.what(), watcher);
    List<String> lines = new ArrayList<>();
    List<Json> rows = new ArrayList<>();
    var csv =
        new StringBuilder(
            "order,wait,device,timeUs,relError,ncuUs,dramRead,dramWrite,l2Bytes,hitRate,idle,"
                + "predictedUs,predictedRead,predictedWrite,predictedHitRate\n");
    lines.add(request.what().workload().text() + ", tiles of " + request.what().tiling().text());
    lines.add(
        format(
            "%-14s %-5s %12s %22s %24s %16s %6s",
            "order",
            "wait",
            "in a graph",
            "one launch (predicted)",
            "memory (predicted)",
            "L2 hits (pred.)",
            "idle"));
    for (int i = 0; i < measured.size(); i++) {
      ChainMeasurement m = measured.get(i);
      ChainPrediction predicted =
          predicted(request, m, request.what().orders().get(i / request.what().waits().size()));
      lines.add(
          m.failure() == null ? line(m, predicted) : "WRONG: " + m.order() + ": " + m.failure());
      rows.add(json(m, predicted));
      csv.append(csv(m, predicted));
    }
    if (request.csv() != null) {
      byte[] bytes = csv.toString().getBytes(StandardCharsets.UTF_8);
      AtomicFile.write(request.csv(), out -> out.write(bytes));
    }
    return new Report(
        measured.stream().allMatch(ChainMeasurement::verified),
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("workload", request.what().workload().text())
            .with("tile", request.what().tiling().text())
            .with("measurements", new Json.Array(rows)));
  }

  /** For a device of the catalogue. */
  private static @Nullable ChainPrediction predicted(
      ChainMeasureRequest request, ChainMeasurement m, ChainMeasurer.Named order) {
    DeviceModel device =
        request.simulated() ? request.gpu() : DeviceCatalogue.find(m.device()).orElse(null);
    if (device == null) {
      return null;
    }
    FfnWorkload w = m.workload();
    var first = new GemmShape(w.m(), w.hidden(), w.k(), w.precision());
    try {
      return ChainPrediction.of(first, w.n(), m.tiling(), order.items(), device);
    } catch (UserError e) {
      // What runs at a time does not fit into the cache.
      return null;
    }
  }

  private static String line(ChainMeasurement m, @Nullable ChainPrediction p) {
    Counters c = m.counters();
    Timeline timeline = m.timeline();
    return format(
        "%-14s %-5s %12s %22s %24s %16s %6s",
        m.order(),
        m.waits().text(),
        m.times() == null ? "-" : AnalyzeAction.time(m.times().timeUs()),
        both(
            c == null ? "-" : AnalyzeAction.time(c.timeUs()),
            p == null ? "-" : AnalyzeAction.time(p.timeUs())),
        both(
            c == null ? "-" : AnalyzeAction.bytes(c.dramBytes()),
            p == null ? "-" : AnalyzeAction.bytes(p.dramReadBytes() + p.dramWriteBytes())),
        both(
            c == null ? "-" : format("%.0f%%", 100 * c.hitRate()),
            p == null ? "-" : format("%.0f%%", 100 * p.hitRate())),
        timeline == null ? "-" : format("%.0f%%", 100 * timeline.idle()));
  }

  private static String both(String measured, String predicted) {
    return measured + " (" + predicted + ")";
  }

  private static Json json(ChainMeasurement m, @Nullable ChainPrediction p) {
    Json.Members json =
        Json.object()
            .with("order", m.order())
            .with("wait", m.waits().text())
            .with("device", m.device())
            .with("relError", m.relError())
            .with("verified", m.verified())
            .with("failure", m.failure());
    if (m.times() != null) {
      json = json.with("timeUs", m.times().timeUs()).with("spread", m.times().spread());
    }
    Counters c = m.counters();
    if (c != null) {
      json =
          json.with(
              "ncu",
              Json.object()
                  .with("timeUs", c.timeUs())
                  .with("dramReadBytes", c.dramReadBytes())
                  .with("dramWriteBytes", c.dramWriteBytes())
                  .with("l2Bytes", c.l2Bytes())
                  .with("hitRate", c.hitRate()));
    }
    Timeline timeline = m.timeline();
    if (timeline != null) {
      json = json.with("idle", timeline.idle()).with("overtaken", timeline.overtaken());
    }
    return p == null
        ? json
        : json.with(
            "predicted",
            Json.object()
                .with("timeUs", p.timeUs())
                .with("dramReadBytes", p.dramReadBytes())
                .with("dramWriteBytes", p.dramWriteBytes())
                .with("l2Bytes", p.l2Bytes())
                .with("hitRate", p.hitRate()));
  }

  private static String csv(ChainMeasurement m, @Nullable ChainPrediction p) {
    Counters c = m.counters();
    Timeline timeline = m.timeline();
    return format(
        "%s,%s,%s,%s,%.3g,%s,%s,%s\n",
        Csv.cell(m.order()),
        m.waits().text(),
        Csv.cell(m.device()),
        m.times() == null ? "" : format("%.3f", m.times().timeUs()),
        m.relError(),
        c == null
            ? ",,,,"
            : format(
                "%.3f,%.0f,%.0f,%.0f,%.4f",
                c.timeUs(), c.dramReadBytes(), c.dramWriteBytes(), c.l2Bytes(), c.hitRate()),
        timeline == null ? "" : format("%.4f", timeline.idle()),
        p == null
            ? ",,,"
            : format(
                "%.3f,%.0f,%.0f,%.4f",
                p.timeUs(), p.dramReadBytes(), p.dramWriteBytes(), p.hitRate()));
  }

  private static String format(String text, @Nullable Object... values) {
    return String.format(Locale.ROOT, text, values);
  }
}
