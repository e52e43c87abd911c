package dev.warpwright.cli.orders;

import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.output.Csv;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.measure.orders.GpuOrderMeasurer;
import dev.warpwright.measure.orders.MeasurementJson;
import dev.warpwright.measure.orders.OrderMeasurement;
import dev.warpwright.measure.orders.OrderMeasurement.Counters;
import dev.warpwright.measure.orders.OrderMeasurer;
import dev.warpwright.measure.orders.OrderPrediction;
import dev.warpwright.measure.orders.RecordedOrders;
import dev.warpwright.measure.orders.SimulatedOrderMeasurer;
import dev.warpwright.measure.orders.Timeline;
import dev.warpwright.target.DeviceCatalogue;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Measures orders, beside what is predicted of them. */
public final class MeasureAction implements Action<MeasureRequest> {
  @Override
  public Report perform(MeasureRequest request, Progress progress) {
    List<OrderMeasurement> measured = measurer(request).measure(request.what(), watcher(progress));
    write(request.files().csv(), csv(measured));
    write(request.files().timeline(), timelines(measured));
    if (request.files().svg() != null) {
      write(request.files().svg(), TimelineDrawing.svg(measured));
    }
    return new Report(
        measured.stream().allMatch(OrderMeasurement::verified), text(measured), json(measured));
  }

  private static OrderMeasurer measurer(MeasureRequest request) {
    return switch (request.from()) {
      case GPU -> new GpuOrderMeasurer();
      case RECORDED -> new RecordedOrders();
      case SIMULATOR -> new SimulatedOrderMeasurer(request.gpu());
    };
  }

  private static OrderMeasurer.Watcher watcher(Progress progress) {
    return new OrderMeasurer.Watcher() {
      @Override
      public boolean cancelled() {
        return false;
      }

      @Override
      public void say(String line) {
        progress.say(line);
      }
    };
  }

  /** Measurements with their predictions, as the command and the page give them. */
  public static Json.Members json(List<OrderMeasurement> measured) {
    return Json.object()
        .with(
            "measurements",
            Json.array(
                measured,
                m -> {
                  Json.Members json = MeasurementJson.write(m);
                  OrderPrediction predicted = predicted(m);
                  return predicted == null ? json : json.with("predicted", predicted.json());
                }));
  }

  /** What the model says, for a device of the catalogue. */
  private static @Nullable OrderPrediction predicted(OrderMeasurement m) {
    return DeviceCatalogue.find(m.device())
        .flatMap(device -> OrderPrediction.of(m.shape(), m.tiling(), m.order(), device))
        .orElse(null);
  }

  private static String text(List<OrderMeasurement> measured) {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < measured.size(); i++) {
      OrderMeasurement m = measured.get(i);
      if (i == 0 || !m.shape().equals(measured.get(i - 1).shape())) {
        lines.add(
            String.format(
                Locale.ROOT,
                "%s, %s, on %s, %s",
                m.shape().text(),
                m.shape().type().text(),
                m.device(),
                m.on()));
        lines.add(
            format(
                "%-9s %-12s %-9s %12s %22s %22s %16s  %s",
                "tile",
                "order",
                "kernel",
                "in a graph",
                "one launch (predicted)",
                "memory (predicted)",
                "L2 hits (pred.)",
                "sms"));
      }
      lines.add(m.failure() == null ? line(m) : "WRONG: " + head(m) + ": " + m.failure());
    }
    if (measured.stream().anyMatch(m -> m.times() != null && m.counters() == null)) {
      lines.add("single launches were not counted: ncu, Nsight Compute, does that");
    }
    return String.join(System.lineSeparator(), lines);
  }

  private static String head(OrderMeasurement m) {
    return m.tiling().text() + " " + m.order().label();
  }

  private static String line(OrderMeasurement m) {
    OrderPrediction p = predicted(m);
    Counters counters = m.counters();
    String time =
        counters == null
            ? "-"
            : both(
                AnalyzeAction.time(counters.timeUs()),
                p,
                q -> AnalyzeAction.time(q.usual().timeUs()));
    String memory =
        counters == null
            ? "-"
            : both(
                AnalyzeAction.bytes(counters.dramBytes()),
                p,
                q -> AnalyzeAction.bytes(q.usual().dramBytes()));
    String hits =
        counters == null
            ? "-"
            : both(format("%.0f%%", 100 * counters.hitRate()), p, MeasureAction::hits);
    Timeline timeline = m.timeline();
    return format(
        "%-9s %-12s %-9s %12s %22s %22s %16s  %s",
        m.tiling().text(),
        m.order().label(),
        m.kernel(),
        m.times() == null ? "-" : AnalyzeAction.time(m.times().timeUs()),
        time,
        memory,
        hits,
        timeline == null
            ? ""
            : format(
                "%d, %.0f%% idle, %d of %d items began out of order",
                timeline.sms(),
                100 * timeline.idle(),
                timeline.overtaken(),
                timeline.events().size()));
  }

  /** A hit rate, with that of uneven SMs before it where it is another one. */
  private static String hits(OrderPrediction p) {
    String usual = format("%.0f", 100 * p.usual().hitRate());
    String uneven = format("%.0f", 100 * p.uneven().hitRate());
    return usual.equals(uneven) ? usual + "%" : uneven + "-" + usual + "%";
  }

  private static String both(
      String measured,
      @Nullable OrderPrediction predicted,
      Function<OrderPrediction, String> text) {
    return predicted == null ? measured : measured + " (" + text.apply(predicted) + ")";
  }

  private static String csv(List<OrderMeasurement> measured) {
    var csv =
        new StringBuilder(
            "M,N,K,dtype,tile,order,kernel,device,on,timeUs,relError,ncuUs,dramRead,dramWrite,l2Bytes,hitRate,sms,idle,predictedUs,predictedDram,predictedHitRate,unevenHitRate\n");
    for (OrderMeasurement m : measured) {
      Counters c = m.counters();
      Timeline t = m.timeline();
      OrderPrediction p = predicted(m);
      csv.append(
          format(
              "%d,%d,%d,%s,%s,%s,%s,%s,%s,%s,%.3g,%s,%s,%s\n",
              m.shape().m(),
              m.shape().n(),
              m.shape().k(),
              m.shape().type().text(),
              m.tiling().text(),
              Csv.cell(m.order().text()),
              m.kernel(),
              Csv.cell(m.device()),
              m.on(),
              m.times() == null ? "" : format("%.3f", m.times().timeUs()),
              m.relError(),
              c == null
                  ? ",,,,"
                  : format(
                      "%.3f,%.0f,%.0f,%.0f,%.4f",
                      c.timeUs(), c.dramReadBytes(), c.dramWriteBytes(), c.l2Bytes(), c.hitRate()),
              t == null ? "," : format("%d,%.4f", t.sms(), t.idle()),
              p == null
                  ? ",,,"
                  : format(
                      "%.3f,%.0f,%.4f,%.4f",
                      p.usual().timeUs(),
                      p.usual().dramBytes(),
                      p.usual().hitRate(),
                      p.uneven().hitRate())));
    }
    return csv.toString();
  }

  private static String timelines(List<OrderMeasurement> measured) {
    var csv = new StringBuilder("tile,order,unit,item,m,n,block,sm,begin,end\n");
    for (OrderMeasurement m : measured) {
      Timeline timeline = m.timeline();
      if (timeline == null) {
        continue;
      }
      List<BlockOrder.Tile> tiles =
          m.order()
              .tiles(
                  (int) Math.ceilDiv(m.shape().m(), m.tiling().m()),
                  (int) Math.ceilDiv(m.shape().n(), m.tiling().n()));
      for (Timeline.Event e : timeline.events()) {
        BlockOrder.Tile tile = tiles.get(e.item());
        csv.append(
            format(
                "%s,%s,%s,%d,%d,%d,%d,%d,%d,%d\n",
                m.tiling().text(),
                Csv.cell(m.order().text()),
                timeline.unit().text(),
                e.item(),
                tile.m(),
                tile.n(),
                e.block(),
                e.sm(),
                e.begin(),
                e.end()));
      }
    }
    return csv.toString();
  }

  private static void write(@Nullable Path file, String text) {
    if (file != null) {
      AtomicFile.write(file, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    }
  }

  private static String format(String text, @Nullable Object... values) {
    return String.format(Locale.ROOT, text, values);
  }
}
