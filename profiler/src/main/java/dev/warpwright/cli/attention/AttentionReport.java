package dev.warpwright.cli.attention;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.Report;
import dev.warpwright.families.attention.AttentionModel;
import dev.warpwright.families.attention.ProjectedAttention;
import dev.warpwright.measure.attention.AttentionBench.Outcome;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Tells what measurements of an attention came to. */
record AttentionReport(Attention attention, DeviceModel device, int features) {
  private double bytes() {
    return attention.bytes() + ProjectedAttention.bytes(attention, features);
  }

  /** What came out, the fastest first. */
  Report of(List<Outcome> outcomes, String gpu, long seed) {
    List<Outcome> sorted =
        outcomes.stream().sorted(Comparator.comparingDouble(Outcome::micros)).toList();
    Outcome best = sorted.getFirst();
    double bound =
        Math.max(
            bytes() / (device.dramGBs() * 1e3),
            attention.flops() / (attention.precision().peak(device) * 1e-6));
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%s%s on %s, bound %s us (seed %d)",
            attention.text(),
            features == 0 ? "" : " project=" + features,
            gpu,
            Figure.number(bound),
            seed));
    sorted.forEach(outcome -> lines.add(line(outcome)));
    boolean verified = best.times() != null;
    Json.Members json =
        json(best)
            .with("workload", attention.key().text())
            .with("text", attention.text())
            .with("target", gpu)
            .with("leastUs", bound)
            .with("verified", verified)
            .with("seed", seed)
            .with("trials", outcomes.size())
            .with("configurations", Json.array(sorted, this::json));
    return new Report(verified, String.join(System.lineSeparator(), lines), json);
  }

  private double expected(Outcome outcome) {
    return AttentionModel.predict(attention, outcome.config(), device).micros()
        + ProjectedAttention.bytes(attention, features) / (device.dramGBs() * 1e3);
  }

  /** A configuration's result. */
  String line(Outcome outcome) {
    String figures =
        outcome.failure() != null
            ? outcome.failure()
            : String.format(
                Locale.ROOT,
                "%s us (%s expected), %.0f GB/s, %.1f TFLOP/s, relative error %.2e, verified",
                Figure.number(outcome.micros()),
                Figure.number(expected(outcome)),
                bytes() / outcome.micros() * 1e-3,
                attention.flops() / outcome.micros() * 1e-6,
                outcome.relError());
    return String.format(Locale.ROOT, "  %-50s %s", outcome.way().text(), figures);
  }

  private Json.Members json(Outcome outcome) {
    Json.Members json =
        Json.object()
            .with("config", outcome.way().text())
            .with("predictedUs", expected(outcome))
            .with("relError", outcome.relError());
    return outcome.times() == null
        ? json.with("failure", String.valueOf(outcome.failure()))
        : json.with("timeUs", outcome.micros())
            .with("launchUs", outcome.times().launchUs())
            .with("gbps", bytes() / outcome.micros() * 1e-3)
            .with("tflops", attention.flops() / outcome.micros() * 1e-6);
  }
}
