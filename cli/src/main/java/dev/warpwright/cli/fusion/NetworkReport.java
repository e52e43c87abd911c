package dev.warpwright.cli.fusion;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Spread;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.measure.network.NetworkResult;
import dev.warpwright.measure.network.ProgramFacts;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.verify.NetworkBounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What measuring a network came to.
 *
 * @param first what the report is about, which the others stand beside
 * @param others that were measured in the same run
 * @param why the first is what it is, for example {@code tuned}
 */
record NetworkReport(
    NetworkTask task,
    String target,
    String device,
    NetworkBounds bounds,
    double tolerance,
    int sets,
    int rounds,
    NetworkResult first,
    List<NetworkResult> others,
    String why) {
  private static final int WRONG = 1;
  private static final int DEVICE = 3;

  NetworkReport {
    others = List.copyOf(others);
  }

  /** Of what was measured on the device here. */
  static NetworkReport of(
      NetworkTask task,
      TuningDevice here,
      int sets,
      int rounds,
      NetworkResult first,
      List<NetworkResult> others,
      String why) {
    NetworkBounds bounds =
        NetworkBounds.of(
            task.graph(),
            task.precision(),
            task.rows(),
            DeviceCatalogue.find(here.name()).orElse(null));
    return new NetworkReport(
        task,
        here.target().name(),
        here.name(),
        bounds,
        task.precision().tolerance(),
        sets,
        rounds,
        first,
        others,
        why);
  }

  Report report() {
    boolean wrong = isWrong(first) || others.stream().anyMatch(NetworkReport::isWrong);
    int code = wrong ? WRONG : first.verified() ? 0 : DEVICE;
    return new Report(code, text(), json());
  }

  private static boolean isWrong(NetworkResult result) {
    return result.failure() != null && result.failure().reason() == FailureReason.WRONG;
  }

  private String text() {
    List<String> lines = new ArrayList<>();
    lines.add(task.text() + " on " + device);
    int width =
        others.stream()
            .mapToInt(other -> other.name().length())
            .reduce(first.name().length(), Math::max);
    String name = "%-" + width + "s";
    lines.add(
        String.format(
            Locale.ROOT,
            name + " %10s %15s %10s %8s %8s %6s %6s %5s %7s %6s",
            "",
            "burst",
            "quartiles",
            "sustained",
            "TFLOP/s",
            "GB/s",
            "bound",
            "ratio",
            "regs",
            "shared",
            "spills"));
    lines.add(row(name, first));
    others.forEach(other -> lines.add(row(name, other)));
    lines.add(bounds.text());
    lines.add(
        first.error() == null || first.failure() != null
            ? "WRONG or not run: " + (first.failure() == null ? "" : first.failure().message())
            : String.format(
                Locale.ROOT,
                "verified over all %d rows: relative error %.2e (at most %.0e), largest absolute"
                    + " error %.2e",
                task.rows(),
                first.error().relative(),
                tolerance,
                first.error().maxAbs()));
    lines.add(first.name() + ": " + why);
    return String.join(System.lineSeparator(), lines.stream().map(OneLine::of).toList());
  }

  private String row(String name, NetworkResult result) {
    String label = String.format(Locale.ROOT, name, result.name());
    if (result.failure() != null) {
      return label + " " + result.failure().reason().text() + ": " + result.failure().message();
    }
    if (result.times() == null) {
      return label + " verified, not timed";
    }
    double us = result.times().micros();
    String measured =
        String.format(
            Locale.ROOT,
            " %7s us %15s %7s us %8.1f %8.0f %6s %6s",
            number(us),
            Spread.text(result.times().burst()),
            number(result.times().sustained()),
            bounds.flops() / us / 1e6,
            bounds.bytes() / us / 1e3,
            ratio(us / bounds.micros()),
            ratio(us / ours()));
    ProgramFacts facts = result.facts();
    return label
        + measured
        + (facts == null
            ? ""
            : String.format(
                Locale.ROOT,
                " %5d %7d %6d",
                facts.registers(),
                facts.sharedBytes(),
                facts.spills()));
  }

  private double ours() {
    return first.times() == null ? Double.NaN : first.times().micros();
  }

  private static String number(double us) {
    return us >= 100
        ? String.format(Locale.ROOT, "%.1f", us)
        : Double.isNaN(us) ? "-" : String.format(Locale.ROOT, "%.2f", us);
  }

  private static String ratio(double ratio) {
    return Double.isNaN(ratio) ? "-" : String.format(Locale.ROOT, "%.2f", ratio);
  }

  private Json json() {
    Json.Members json =
        Json.object()
            .with("workload", task.text())
            .with("key", task.key().text())
            .with("target", target)
            .with("device", device)
            .with("strategy", first.name())
            .with("why", why)
            .with("rows", task.rows())
            .with("seed", task.seed())
            .with("sets", sets)
            .with("rounds", rounds);
    return into(json, first)
        .with("rtol", tolerance)
        .with("boundUs", bounds.micros())
        .with("boundBy", bounds.isKnown() ? bounds.by() : "unknown")
        .with("bytesUs", bounds.bytesUs())
        .with("productsUs", bounds.productsUs())
        .with("specialUs", bounds.specialUs())
        .with("ofBound", ours() / bounds.micros())
        .with(
            "peers",
            Json.array(others, other -> into(Json.object().with("name", other.name()), other)));
  }

  private Json.Members into(Json.Members json, NetworkResult result) {
    Json.Members members = json;
    if (result.times() != null) {
      double us = result.times().micros();
      members =
          members
              .with("timeUs", us)
              .with("spread", Spread.json(result.times().burst()))
              .with("sustainedUs", result.times().sustained())
              .with("tflops", bounds.flops() / us / 1e6)
              .with("gbps", bounds.bytes() / us / 1e3)
              .with("ratio", us / ours());
    }
    if (result.error() != null) {
      members =
          members
              .with("relError", result.error().relative())
              .with("maxAbsError", result.error().maxAbs())
              .with("worstElement", result.error().element());
    }
    members = members.with("verified", result.verified());
    if (result.failure() != null) {
      members =
          members
              .with("reason", result.failure().reason().text())
              .with("failure", result.failure().message());
    }
    ProgramFacts facts = result.facts();
    return facts == null
        ? members
        : members
            .with("kernels", facts.kernels())
            .with("blocks", facts.blocks())
            .with("threads", facts.threads())
            .with("registers", facts.registers())
            .with("sharedBytes", facts.sharedBytes())
            .with("spills", facts.spills())
            .with("warnings", Json.array(facts.warnings(), Json::of))
            .with("sourceHash", facts.sourceHash());
  }
}
