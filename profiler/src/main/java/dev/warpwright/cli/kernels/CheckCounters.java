package dev.warpwright.cli.kernels;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import dev.warpwright.examples.ladder.Ladder;
import dev.warpwright.examples.ladder.Rung;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.verify.CheckSubject;
import dev.warpwright.verify.CounterPrediction;
import dev.warpwright.verify.NetworkCounters;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Predicts what kernels ask of the memories of a GPU. */
final class CheckCounters {
  private static final String DEVICE = "H200 SXM";
  private static final int ROWS = 16384;
  private static final long LADDER = 1024;

  private CheckCounters() {}

  static Report report(CheckRequest request) {
    DeviceModel device =
        DeviceCatalogue.find(DEVICE)
            .orElseThrow(() -> new IllegalStateException(DEVICE + " is not in the catalogue"));
    List<CounterPrediction> predictions = new ArrayList<>();
    if (CheckSubjects.isLadder(request)) {
      Map<String, Long> shape = request.options().scalars();
      for (Rung rung : CheckSubjects.rungs(request)) {
        predictions.add(
            CounterPrediction.rung(
                (m, n, k) -> Ladder.kernel(rung, m, n, k),
                shape.getOrDefault("M", LADDER),
                shape.getOrDefault("N", LADDER),
                shape.getOrDefault("K", LADDER),
                device));
      }
      return report(request, device, predictions);
    }
    for (CheckSubject subject : CheckSubjects.of(request)) {
      switch (subject) {
        case CheckSubject.OfKernel(var kernel) when kernel.kind() == Kernel.Kind.GRID ->
            predictions.add(
                isGemmOfAnyShape(kernel)
                    ? CounterPrediction.gemm(kernel, request.options().scalars(), device)
                    : CounterPrediction.whole(kernel, request.options().scalars(), device));
        case CheckSubject.OfNetwork(var network, _) ->
            predictions.addAll(
                NetworkCounters.predict(
                    network,
                    network.fixedRows().orElse(request.options().rows().orElse(ROWS)),
                    device));
        case CheckSubject.OfKernel _,
            CheckSubject.OfFunction _,
            CheckSubject.OfProgram _,
            CheckSubject.OfAttention _,
            CheckSubject.OfParallel _ ->
            throw new UserError(
                subject.name() + ": counters are predicted for grid kernels and models");
      }
    }
    return report(request, device, predictions);
  }

  private static boolean isGemmOfAnyShape(Kernel kernel) {
    return kernel.attrs().getString("workload") != null
        && kernel.scalars().stream()
            .map(ScalarParam::name)
            .toList()
            .containsAll(List.of("M", "N", "K"));
  }

  private static Report report(
      CheckRequest request, DeviceModel device, List<CounterPrediction> predictions) {
    List<String> lines = new ArrayList<>();
    for (CounterPrediction p : predictions) {
      lines.add(
          OneLine.of(
              String.format(
                  Locale.ROOT,
                  "%s on an %s: %s; by its counters, most of it %s%s; %d waves, the last %.0f%%"
                      + " full",
                  p.kernel(),
                  device.name(),
                  figure(p).text(),
                  p.time().bound(),
                  Double.isNaN(p.leastDramBytes())
                      ? ""
                      : String.format(
                          Locale.ROOT, "; at least %.0f bytes of memory", p.leastDramBytes()),
                  p.waves(),
                  100 * p.lastWave())));
      p.counters()
          .forEach(
              (name, value) ->
                  lines.add(String.format(Locale.ROOT, "  %-22s %16.0f", name, value)));
      lines.add("  line      requests     sectors or       of these");
      lines.add("                          wavefronts           lost");
      for (CounterPrediction.OfStatement s : p.statements()) {
        lines.add(
            OneLine.of(
                String.format(
                    Locale.ROOT,
                    "  %4d %13.0f %14.0f %14.0f  %s: %s",
                    s.line(),
                    s.requests(),
                    s.units(),
                    s.lost(),
                    s.what(),
                    s.statement())));
      }
    }
    return new Report(
        true,
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("file", request.file().toString())
            .with("device", device.name())
            .with("kernels", Json.array(predictions, CheckCounters::json)));
  }

  private static Figure figure(CounterPrediction p) {
    return new Figure(Double.NaN, p.time().micros(), p.least());
  }

  private static Json json(CounterPrediction p) {
    Json.Members counters = Json.object();
    for (Map.Entry<String, Double> counter : p.counters().entrySet()) {
      counters = counters.with(counter.getKey(), counter.getValue());
    }
    Json.Members json =
        Json.object()
            .with("name", p.kernel())
            .with("work", p.work())
            .with("waves", p.waves())
            .with("lastWave", p.lastWave())
            .with("leastDramBytes", p.leastDramBytes());
    return figure(p)
        .into(json)
        .with("bound", p.time().bound())
        .with("counters", counters)
        .with("statements", Json.array(p.statements(), CheckCounters::json));
  }

  private static Json json(CounterPrediction.OfStatement s) {
    return Json.object()
        .with("line", s.line())
        .with("statement", s.statement())
        .with("what", s.what())
        .with("requests", s.requests())
        .with("units", s.units())
        .with("lost", s.lost());
  }
}
