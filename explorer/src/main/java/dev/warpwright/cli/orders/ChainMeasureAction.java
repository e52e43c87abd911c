package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Csv;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.measure.orders.ChainKernels;
import dev.warpwright.measure.orders.ChainMeasurement;
import dev.warpwright.measure.orders.ChainMeasurer;
import dev.warpwright.measure.orders.OrderMeasurement.Counters;
import dev.warpwright.measure.orders.OrderMeasurer;
import dev.warpwright.measure.orders.Timeline;
import dev.warpwright.perf.grid.GridRun;
import dev.warpwright.perf.grid.PersistentGrid;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
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
        switch (request.from()) {
          case GPU -> ChainMeasurer.onGpu(request.what(), watcher);
          case SIMULATOR -> ChainMeasurer.inSimulator(request.what(), request.gpu(), watcher);
          case MODEL -> List.of();
        };
    List<String> lines = new ArrayList<>();
    List<Json> rows = new ArrayList<>();
    var csv =
        new StringBuilder(
            "order,wait,device,timeUs,relError,ncuUs,dramRead,dramWrite,l2Bytes,hitRate,idle,"
                + "predictedUs,predictedRead,predictedWrite,predictedHitRate,predictedWaiting,"
                + "predictedIdle\n");
    lines.add(request.what().workload().text() + ", tiles of " + request.what().tiling().text());
    lines.add(
        format(
            "%-14s %-8s %12s  %22s  %20s  %15s  %15s  %12s",
            "order",
            "wait",
            "in a graph",
            "one launch (predicted)",
            "memory (predicted)",
            "L2 hits (pred.)",
            "waiting (pred.)",
            "idle (pred.)"));
    List<String> notes = new ArrayList<>();
    int i = 0;
    List<ChainMeasurer.Pair> pairs = request.what().pairs();
    for (ChainMeasurer.Pair pair : pairs) {
      if (pair.refusal() != null) {
        notes.add(pair.note());
        continue;
      }
      ChainMeasurement m = measured.isEmpty() ? null : measured.get(i++);
      Predicted p = predicted(request, m, pair.order(), pair.waits());
      Row row = new Row(pair.order().name(), pair.waits(), m, p);
      lines.add(row.line());
      notes.addAll(row.notes());
      rows.add(row.json());
      csv.append(row.csv());
    }
    if (rows.isEmpty()) {
      throw new UserError(pairs.getFirst().note());
    }
    lines.addAll(notes);
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

  /** For a device of the catalogue; null for another, or where there is no such kernel. */
  private static @Nullable Predicted predicted(
      ChainMeasureRequest request,
      @Nullable ChainMeasurement m,
      ChainMeasurer.Named order,
      WaitPolicy waits) {
    DeviceModel device =
        m == null || request.from() == ChainMeasureRequest.From.SIMULATOR
            ? request.gpu()
            : DeviceCatalogue.find(m.device()).orElse(null);
    if (device == null) {
      return null;
    }
    ChainMeasurer.Request what = request.what();
    try {
      PersistentGrid grid =
          ChainKernels.grid(what.workload(), what.tiling(), order.items(), waits, device);
      return new Predicted(device, grid.run());
    } catch (UserError e) {
      if (m == null) {
        throw e;
      }
      return null;
    }
  }

  private record Predicted(DeviceModel device, GridRun run) {}

  /** An order, as far as it was measured, beside what is predicted of it. */
  private record Row(
      String order, WaitPolicy waits, @Nullable ChainMeasurement m, @Nullable Predicted p) {
    String line() {
      if (m != null && m.failure() != null) {
        return "WRONG: " + order + ": " + m.failure();
      }
      Counters c = m == null ? null : m.counters();
      Timeline timeline = m == null ? null : m.timeline();
      GridRun run = p == null ? null : p.run();
      return format(
          "%-14s %-8s %12s  %22s  %20s  %15s  %15s  %12s",
          order,
          waits.text(),
          m == null || m.times() == null ? "-" : AnalyzeAction.time(m.times().timeUs()),
          both(
              c == null ? "-" : AnalyzeAction.time(c.timeUs()),
              run == null ? "-" : AnalyzeAction.time(run.timeUs())),
          both(
              c == null ? "-" : AnalyzeAction.bytes(c.dramBytes()),
              run == null ? "-" : AnalyzeAction.bytes(run.dramBytes())),
          both(
              c == null ? "-" : format("%.0f%%", 100 * c.hitRate()),
              run == null ? "-" : format("%.0f%%", 100 * run.hitRate())),
          both("-", run == null ? "-" : format("%.0f%%", 100 * run.waiting())),
          both(
              timeline == null ? "-" : format("%.0f%%", 100 * timeline.idle()),
              run == null ? "-" : format("%.0f%%", 100 * run.idle())));
    }

    /** What is to be said of the prediction beside its figures. */
    List<String> notes() {
      return p == null || p.run().deadlock() == null
          ? List.of()
          : List.of(order + ", wait=" + waits.text() + ": deadlock: " + p.run().deadlock());
    }

    Json json() {
      Json.Members json = Json.object().with("order", order).with("wait", waits.text());
      if (m != null) {
        json =
            json.with("device", m.device())
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
      }
      return p == null
          ? json
          : json.with(
              "predicted",
              Json.object()
                  .with("device", p.device().name())
                  .with("timeUs", p.run().timeUs())
                  .with("waiting", p.run().waiting())
                  .with("stalled", p.run().stalled())
                  .with("idle", p.run().idle())
                  .with("dramReadBytes", p.run().dramReadBytes())
                  .with("dramWriteBytes", p.run().dramWriteBytes())
                  .with("l2Bytes", p.run().l2Bytes())
                  .with("hitRate", p.run().hitRate())
                  .with("deadlock", p.run().deadlock()));
    }

    String csv() {
      Counters c = m == null ? null : m.counters();
      Timeline timeline = m == null ? null : m.timeline();
      GridRun run = p == null ? null : p.run();
      return format(
          "%s,%s,%s,%s,%s,%s,%s,%s\n",
          Csv.cell(order),
          waits.text(),
          Csv.cell(m == null ? "" : m.device()),
          m == null || m.times() == null ? "" : format("%.3f", m.times().timeUs()),
          m == null ? "" : format("%.3g", m.relError()),
          c == null
              ? ",,,,"
              : format(
                  "%.3f,%.0f,%.0f,%.0f,%.4f",
                  c.timeUs(), c.dramReadBytes(), c.dramWriteBytes(), c.l2Bytes(), c.hitRate()),
          timeline == null ? "" : format("%.4f", timeline.idle()),
          run == null
              ? ",,,,,"
              : format(
                  "%.3f,%.0f,%.0f,%.4f,%.4f,%.4f",
                  run.timeUs(),
                  run.dramReadBytes(),
                  run.dramWriteBytes(),
                  run.hitRate(),
                  run.waiting(),
                  run.idle()));
    }
  }

  private static String both(String measured, String predicted) {
    return measured + " (" + predicted + ")";
  }

  private static String format(String text, @Nullable Object... values) {
    return String.format(Locale.ROOT, text, values);
  }
}
