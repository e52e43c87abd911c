package dev.warpwright.cli.run;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.Device;
import dev.warpwright.parallel.cost.Link;
import dev.warpwright.parallel.cost.ParallelPlan;
import dev.warpwright.parallel.cost.ParallelPlan.Estimate;
import dev.warpwright.parallel.split.TensorSplit;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Tells what one GPU and the ways to share a network are expected to take. */
final class ParallelPlanReport {
  private ParallelPlanReport() {}

  static Report of(
      ModelRequest request, Device device, Precision precision, int rows, ParallelPlan plan) {
    Estimate best = plan.best();
    Estimate one = plan.estimates().getFirst();
    StringBuilder lines =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "%s for %d x %s in %s, %d rows: %s is expected to be fastest, %.2f of one GPU's"
                    + " time",
                OneLine.of(request.title()),
                plan.devices(),
                device.target().name(),
                precision.text(),
                rows,
                best.name(),
                best.totalUs() / one.totalUs()));
    plan.estimates().forEach(e -> lines.append(line(e, e == best)));
    layers(plan)
        .ifPresent(
            layers ->
                lines.append(
                    String.format(
                        Locale.ROOT,
                        "%n  layers %s",
                        layers.stream()
                            .map(layer -> layer.name() + " (" + layer.how().text() + ")")
                            .collect(Collectors.joining(", ")))));
    Link link = plan.link();
    lines.append(
        String.format(
            Locale.ROOT,
            "%n  joined by %s (%s): %.0f GB/s each way, %s; %s",
            link.name(),
            link.about(),
            link.bulk().busGBs(),
            link.measured() ? "measured" : "not measured here",
            link.source()));
    Json json =
        Json.object()
            .with("model", request.title())
            .with("target", device.target().name())
            .with("precision", precision.text())
            .with("rows", rows)
            .with("gpus", plan.devices())
            .with("link", link.name())
            .with("linkGBs", link.bulk().busGBs())
            .with("linkMeasured", link.measured())
            .with("chosen", best.name())
            .with("ways", Json.array(plan.estimates(), e -> json(e, e == best)));
    return new Report(true, lines.toString(), json);
  }

  private static Optional<List<TensorSplit.Layer>> layers(ParallelPlan plan) {
    return plan.estimates().stream()
        .flatMap(e -> Optional.ofNullable(e.program()).stream())
        .map(program -> program.layers())
        .filter(layers -> !layers.isEmpty())
        .findFirst();
  }

  private static String line(Estimate e, boolean chosen) {
    if (!e.isPossible()) {
      return String.format(Locale.ROOT, "%n  not %s: %s", e.name(), e.refused());
    }
    String sums =
        e.sums() == 0
            ? e.way() == null ? "" : ", nothing is sent"
            : String.format(
                Locale.ROOT,
                " = %.1f of kernels + %.1f of %.1f of %d sum%s, a GPU sends %.1f MB",
                e.computeUs(),
                e.exposedUs(),
                e.sumUs(),
                e.sums(),
                e.sums() == 1 ? "" : "s",
                e.sentBytes() / 1e6);
    return String.format(
        Locale.ROOT,
        "%n  %s%s: %.1f us expected%s",
        chosen ? "chosen: " : "",
        e.name(),
        e.totalUs(),
        sums);
  }

  static Json json(Estimate e, boolean chosen) {
    Json.Members json =
        Json.object()
            .with("name", e.name())
            .with("chosen", chosen)
            .with("parts", e.parts())
            .with("possible", e.isPossible());
    if (!e.isPossible()) {
      return json.with("why", e.refused());
    }
    return json.with("expectedUs", e.totalUs())
        .with("computeUs", e.computeUs())
        .with("sums", e.sums())
        .with("sumUs", e.sumUs())
        .with("exposedUs", e.exposedUs())
        .with("sentBytes", e.sentBytes());
  }
}
