package dev.warpwright.cli.explore;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.orders.AnalyzeAction;
import dev.warpwright.cli.orders.AnalyzeRequest;
import dev.warpwright.cli.orders.AnalyzeSweep;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.analyze.Analysis;
import dev.warpwright.perf.analyze.Gpus;
import dev.warpwright.perf.analyze.MeasuredOrders;
import dev.warpwright.perf.analyze.OwnDevice;
import dev.warpwright.perf.analyze.Staircase;
import dev.warpwright.perf.analyze.WorkloadParts;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.perf.predict.GemmPrediction;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What the page asks of devices: answers are those of the commands, {@code
 * /api/analyze?words=gemm+M=16…} is {@code warpwright analyze gemm M=16… --json}.
 */
final class AnalyzeEndpoints {
  private static final int LARGEST = 1_000_000;

  private AnalyzeEndpoints() {}

  static Json devices() {
    return Json.object()
        .with(
            "devices",
            Json.array(
                DeviceCatalogue.ALL,
                device ->
                    Json.object()
                        .with("id", Gpus.shortName(device))
                        .with("name", device.name())
                        .with("sms", device.sms())
                        .with("bandwidth", device.dramGBs() * 1e9)
                        .with("l2Bytes", (double) device.l2Bytes())
                        .with("dtypes", Json.array(types(device), t -> Json.of(t.text())))));
  }

  private static List<Precision> types(DeviceModel device) {
    return Stream.of(
            Precision.F32,
            Precision.TF32,
            Precision.F16,
            Precision.BF16,
            Precision.E4M3,
            Precision.INT8)
        .filter(type -> type.supportedBy(device))
        .toList();
  }

  /**
   * As the command answers; a model and a device of one's own come as text, their rows as M in the
   * words.
   */
  static Json analyze(Map<String, String> parameters) {
    String words = parameters.getOrDefault("words", "").strip();
    List<String> list = words.isEmpty() ? List.of() : List.of(words.split("\\s+"));
    if (list.stream().anyMatch(word -> word.startsWith("file=") || word.startsWith("gpufile="))) {
      throw new UserError("the page sends files, not their names");
    }
    String model = parameters.getOrDefault("model", "");
    String device = parameters.getOrDefault("device", "");
    Function<List<String>, AnalyzeRequest> read =
        at -> {
          AnalyzeRequest request = model.isEmpty() ? AnalyzeRequest.of(at, null, null) : null;
          if (request == null) {
            KeyValues values = new KeyValues(at);
            Long rows = values.text("M") == null ? null : values.number("M", 1, LARGEST);
            request =
                AnalyzeRequest.of(
                    WorkloadParts.file(
                        "the model",
                        JsonParser.parse("the model", model),
                        Precision.parse(values.text("dtype", "bf16")),
                        rows),
                    Gpus.list(values.text("gpu", "h200")),
                    null,
                    null);
            values.finish("M, dtype, gpu");
          }
          if (device.isEmpty()) {
            return request;
          }
          List<DeviceModel> gpus =
              new ArrayList<>(
                  list.stream().anyMatch(word -> word.startsWith("gpu="))
                      ? request.gpus()
                      : List.of());
          gpus.addAll(request.skipped());
          gpus.add(OwnDevice.read("the device", JsonParser.parse("the device", device)));
          return AnalyzeRequest.of(request.workload(), gpus, null, null);
        };
    AnalyzeSweep sweep = AnalyzeSweep.of(list, read);
    if (sweep != null) {
      return sweep.json();
    }
    AnalyzeRequest request = read.apply(list);
    return AnalyzeAction.json(
        request, request.gpus().stream().map(gpu -> Analysis.of(request.workload(), gpu)).toList());
  }

  static KeyValues values(Map<String, String> parameters) {
    return new KeyValues(
        parameters.entrySet().stream()
            .filter(e -> !e.getValue().isEmpty())
            .map(e -> e.getKey() + "=" + e.getValue())
            .toList());
  }

  static GemmShape shape(KeyValues values) {
    Precision type = Precision.parse(values.text("dtype", "bf16"));
    return new GemmShape(
        values.number("M", 1, LARGEST),
        values.number("N", 1, LARGEST),
        values.number("K", 1, LARGEST),
        type);
  }

  /** Predictions for every order and tile, and what was measured of them. */
  static Json device(Map<String, String> parameters) {
    KeyValues values = values(parameters);
    GemmShape shape = shape(values);
    DeviceModel device = Gpus.find(values.text("gpu", "h200"));
    values.finish("M, N, K, dtype, gpu");
    List<String> orders = new ArrayList<>(TileOrders.READY_MADE);
    orders.remove("grouped:2");
    orders.add(orders.indexOf("grouped:8") + 1, "grouped:16");
    List<GemmPrediction> predictions =
        Tiling.usual(device).parallelStream()
            .flatMap(
                tiling ->
                    orders.stream()
                        .map(BlockOrder::parse)
                        .map(order -> GemmPrediction.of(shape, tiling, order, device)))
            .toList();
    List<MeasuredOrders.Row> measured =
        device == MeasuredOrders.device()
            ? MeasuredOrders.all().stream().filter(row -> row.shape().equals(shape)).toList()
            : List.of();
    return Json.object()
        .with("gpu", device.name())
        .with("M", shape.m())
        .with("N", shape.n())
        .with("K", shape.k())
        .with("dtype", shape.type().text())
        .with("leastBytes", shape.leastBytes())
        .with("flops", shape.flops())
        .with(
            "shapesMeasured",
            Json.array(
                MeasuredOrders.all().stream().map(row -> row.shape().text()).distinct().toList(),
                Json::of))
        .with("predictions", Json.array(predictions, AnalyzeAction::prediction))
        .with(
            "measured",
            Json.array(
                measured,
                row ->
                    Json.object()
                        .with("kernel", row.kernel())
                        .with("tile", row.tiling().text())
                        .with("order", row.order().text())
                        .with("timeUs", row.timeUs())
                        .with("dramBytes", row.dramBytes())
                        .with("dramReadBytes", row.dramReadBytes())
                        .with("dramWriteBytes", row.dramWriteBytes())
                        .with("l2Bytes", row.l2Bytes())
                        .with("hitRate", row.hitRate())));
  }

  static Json staircase(Map<String, String> parameters) {
    KeyValues values = values(parameters);
    GemmShape shape = shape(values);
    DeviceModel device = Gpus.find(values.text("gpu", "h200"));
    String tile = values.text("tile");
    List<Tiling> tilings = tile == null ? Tiling.usual(device) : List.of(Tiling.parse(tile));
    String dimension = values.text("along", "M");
    long last = values.number("last", 1, LARGEST, 4096);
    values.finish("M, N, K, dtype, gpu, tile, along, last");
    Staircase stairs = Staircase.of(shape, dimension, last, tilings, device);
    List<Json> points = new ArrayList<>();
    for (int i = 0; i < stairs.values().size(); i++) {
      GemmPrediction p = stairs.points().get(i);
      points.add(
          Json.object()
              .with("at", stairs.values().get(i))
              .with("timeUs", stairs.times().get(i))
              .with("tile", p.tiling().text())
              .with("waves", p.waves())
              .with("tail", p.tail())
              .with("flops", p.shape().flops()));
    }
    return Json.object().with("gpu", device.name()).with("points", new Json.Array(points));
  }
}
