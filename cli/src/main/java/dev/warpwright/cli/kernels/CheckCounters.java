package dev.warpwright.cli.kernels;

import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.check.CheckSubject;
import dev.warpwright.compiler.check.CounterPrediction;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.json.Json;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Predicts what kernels ask of the memories of a GPU. */
final class CheckCounters {
  private static final String DEVICE = "H200 SXM";
  private static final int ROWS = 16384;

  private CheckCounters() {}

  static Report report(CheckRequest request) {
    DeviceModel device =
        DeviceCatalogue.find(DEVICE)
            .orElseThrow(() -> new IllegalStateException(DEVICE + " is not in the catalogue"));
    List<CounterPrediction> predictions = new ArrayList<>();
    for (CheckSubject subject : CheckSubjects.of(request)) {
      switch (subject) {
        case CheckSubject.OfKernel(var kernel) ->
            predictions.add(CounterPrediction.product(kernel, request.options().scalars(), device));
        case CheckSubject.OfNetwork(var network) ->
            predictions.addAll(
                CounterPrediction.network(network, request.options().rows().orElse(ROWS), device));
        case CheckSubject.OfFunction _, CheckSubject.OfProgram _ ->
            throw new UserError(subject.name() + ": counters are predicted for kernels and models");
      }
    }
    List<String> lines = new ArrayList<>();
    for (CounterPrediction p : predictions) {
      lines.add(
          OneLine.of(
              String.format(
                  Locale.ROOT,
                  "%s on an %s: at least %.1f us, %.0f bytes%s",
                  p.kernel(),
                  device.name(),
                  p.leastMicros(),
                  p.leastDramBytes(),
                  p.waves() == 0
                      ? ""
                      : String.format(
                          Locale.ROOT,
                          "; %d waves, the last %.0f%% full",
                          p.waves(),
                          100 * p.lastWave()))));
      p.counters()
          .forEach(
              (name, value) ->
                  lines.add(String.format(Locale.ROOT, "  %-22s %16.0f", name, value)));
    }
    return new Report(
        true,
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("file", request.file().toString())
            .with("device", device.name())
            .with("kernels", Json.array(predictions, CheckCounters::json)));
  }

  private static Json json(CounterPrediction p) {
    Json.Members counters = Json.object();
    for (Map.Entry<String, Double> counter : p.counters().entrySet()) {
      counters = counters.with(counter.getKey(), counter.getValue());
    }
    return Json.object()
        .with("name", p.kernel())
        .with("work", p.work())
        .with("waves", p.waves())
        .with("lastWave", p.lastWave())
        .with("leastDramBytes", p.leastDramBytes())
        .with("leastUs", p.leastMicros())
        .with("counters", counters);
  }
}
