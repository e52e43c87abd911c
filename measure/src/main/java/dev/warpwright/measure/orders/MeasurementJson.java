package dev.warpwright.measure.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonFields;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.measure.orders.OrderMeasurement.Counters;
import dev.warpwright.measure.orders.OrderMeasurement.Times;
import dev.warpwright.measure.orders.Timeline.Event;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.workload.Precision;
import java.util.List;

/** Measurements as JSON, as they are recorded and sent to the page. */
public final class MeasurementJson {
  private static final int EVENT = 5;

  private MeasurementJson() {}

  /** A measurement; times in microseconds, a timeline's events as rows of five numbers. */
  public static Json.Members write(OrderMeasurement m) {
    Json.Members json =
        Json.object()
            .with("M", m.shape().m())
            .with("N", m.shape().n())
            .with("K", m.shape().k())
            .with("dtype", m.shape().type().text())
            .with("tile", m.tiling().text())
            .with("order", m.order().text())
            .with("kernel", m.kernel())
            .with("device", m.device())
            .with("on", m.on())
            .with("relError", m.relError())
            .with("verified", m.verified())
            .with("failure", m.failure());
    Times times = m.times();
    if (times != null) {
      json = json.with("timeUs", times.timeUs()).with("spread", times.spread());
    }
    Counters counters = m.counters();
    if (counters != null) {
      json =
          json.with(
              "ncu",
              Json.object()
                  .with("timeUs", counters.timeUs())
                  .with("dramReadBytes", counters.dramReadBytes())
                  .with("dramWriteBytes", counters.dramWriteBytes())
                  .with("l2Bytes", counters.l2Bytes())
                  .with("hitRate", counters.hitRate()));
    }
    Timeline timeline = m.timeline();
    return timeline == null ? json : json.with("timeline", write(timeline));
  }

  private static Json write(Timeline timeline) {
    return Json.object()
        .with("unit", timeline.unit().text())
        .with("end", timeline.end())
        .with("sms", timeline.sms())
        .with("idle", timeline.idle())
        .with("overtaken", timeline.overtaken())
        .with(
            "events",
            Json.array(
                timeline.events(),
                e ->
                    Json.array(
                        List.of(
                            (long) e.item(), (long) e.block(), (long) e.sm(), e.begin(), e.end()),
                        Json::of)));
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @param where what messages begin with
   * @throws UserError if it is something else
   */
  public static OrderMeasurement read(String where, Json json) {
    JsonFields fields = JsonFields.of(where, json);
    return new OrderMeasurement(
        new GemmShape(
            fields.integer("M"),
            fields.integer("N"),
            fields.integer("K"),
            Precision.parse(fields.text("dtype"))),
        Tiling.parse(fields.text("tile")),
        BlockOrder.parse(fields.text("order")),
        fields.text("kernel"),
        fields.text("device"),
        fields.text("on"),
        fields.has("timeUs") ? new Times(fields.number("timeUs"), fields.number("spread")) : null,
        fields.has("relError") ? fields.number("relError") : Double.NaN,
        fields.has("failure") ? fields.text("failure") : null,
        fields.has("ncu") ? counters(fields.object("ncu")) : null,
        fields.has("timeline") ? timeline(fields.object("timeline")) : null);
  }

  private static Counters counters(JsonFields fields) {
    return new Counters(
        fields.number("timeUs"),
        fields.number("dramReadBytes"),
        fields.number("dramWriteBytes"),
        fields.number("l2Bytes"),
        fields.number("hitRate"));
  }

  private static Timeline timeline(JsonFields fields) {
    String where = fields.where();
    List<Event> events = fields.list("events", (at, row) -> event(fields, at, row));
    try {
      return new Timeline(Timeline.Unit.parse(fields.text("unit")), events);
    } catch (IllegalArgumentException e) {
      throw new UserError(where + ": unit '" + fields.text("unit") + "' is none", e);
    }
  }

  private static Event event(JsonFields fields, String at, Json row) {
    if (!(row instanceof Json.Array(List<Json> cells)) || cells.size() != EVENT) {
      throw new UserError(at + " is no list of " + EVENT + " numbers");
    }
    long[] numbers =
        cells.stream().mapToLong(cell -> fields.integer("an event's number", cell)).toArray();
    return new Event((int) numbers[0], (int) numbers[1], (int) numbers[2], numbers[3], numbers[4]);
  }
}
