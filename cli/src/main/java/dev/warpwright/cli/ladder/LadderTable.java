package dev.warpwright.cli.ladder;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.examples.ladder.RungReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The rungs as a table, and as JSON. */
final class LadderTable {
  private LadderTable() {}

  static String text(String title, List<RungReport> reports) {
    List<String> lines = new ArrayList<>();
    lines.add(title);
    lines.add(
        String.format(
            Locale.ROOT,
            "%-17s %-5s %11s %10s %9s %9s %7s %5s %7s %5s %9s %9s %6s  %s",
            "rung",
            "type",
            "time us",
            "model* us",
            "bound us",
            "GFLOP/s",
            "cuBLAS",
            "regs",
            "shared",
            "occ.",
            "DRAM* GB",
            "L2* GB",
            "bank*",
            "limit*"));
    boolean predicted = false;
    for (RungReport r : reports) {
      if (r.missing() != null) {
        lines.add(missing(r));
        continue;
      }
      predicted |= r.predicted();
      lines.add(
          String.format(
              Locale.ROOT,
              "%-17s %-5s %11s %10s %9s %9s %7s %5d %7d %4.0f%% %9s %9s %6s  %s%s",
              r.name(),
              r.dtype().text(),
              number("%.1f", r.timeUs()),
              number("%.1f", r.predictedUs()),
              number("%.1f", r.least().micros()),
              number("%.0f", r.gflops()),
              number("%.1f%%", 100 * r.baselineUs() / r.timeUs()),
              r.registers(),
              r.sharedBytes(),
              100 * r.occupancy(),
              number("%.3f", r.dramBytes() * 1e-9),
              number("%.2f", r.l2Bytes() * 1e-9),
              number("%.0f%%", 100 * r.conflicts()),
              r.bound(),
              r.failure() == null ? "" : "  WRONG: " + r.failure()));
    }
    lines.add(
        predicted
            ? "times and columns marked * are predicted by a model, nothing was run"
            : "verified: every result, before and after timing; * predicted by a model (bank:"
                + " rounds of shared memory lost to conflicts)");
    return String.join(System.lineSeparator(), lines);
  }

  private static String missing(RungReport r) {
    return String.format(
        Locale.ROOT, "%-17s %-5s not here: %s", r.name(), r.dtype().text(), r.missing());
  }

  /** The rungs as they were counted in the simulator. */
  static String simulated(String title, List<RungReport> reports) {
    List<String> lines = new ArrayList<>();
    lines.add(title);
    lines.add(
        String.format(
            Locale.ROOT,
            "%-17s %-5s %10s %9s %9s %9s %9s %9s %9s %7s %7s",
            "rung",
            "type",
            "rel. error",
            "model us",
            "bound us",
            "DRAM kB",
            "L2 kB",
            "L1 req.",
            "sectors",
            "shared",
            "lost"));
    for (RungReport r : reports) {
      if (r.missing() != null) {
        lines.add(missing(r));
        continue;
      }
      double shared = count(r, "sharedLoadWavefronts") + count(r, "sharedStoreWavefronts");
      double sectors =
          count(r, "globalLoadSectors")
              + count(r, "globalStoreSectors")
              + count(r, "asyncLoadSectors");
      double lost = count(r, "sharedLoadConflicts") + count(r, "sharedStoreConflicts");
      lines.add(
          String.format(
              Locale.ROOT,
              "%-17s %-5s %10s %9s %9s %9s %9s %9s %9s %7s %7s%s",
              r.name(),
              r.dtype().text(),
              number("%.2e", r.relError()),
              number("%.2f", r.timeUs()),
              number("%.2f", r.least().micros()),
              number("%.0f", count(r, "dramReadBytes") * 1e-3),
              number("%.0f", count(r, "l2ToL1Bytes") * 1e-3),
              number("%.0f", count(r, "globalLoadRequests") + count(r, "globalStoreRequests")),
              number("%.0f", sectors),
              number("%.0f", shared),
              number("%.0f", lost),
              r.failure() == null ? "" : "  WRONG: " + r.failure()));
    }
    lines.add(
        (reports.stream().allMatch(r -> r.failure() == null)
                ? "verified in the simulator: "
                : "WRONG: ")
            + "every access checked, the whole result compared; counted are bytes read from memory"
            + " and by L1, requests of warps, the sectors of 32 bytes that they touch (cp.async's,"
            + " too; not TMA's), wavefronts of shared memory and those lost to bank conflicts");
    lines.add("model us: as --predict has it for this shape; counters do not change it");
    return String.join(System.lineSeparator(), lines);
  }

  private static double count(RungReport r, String counter) {
    return r.counters().getOrDefault(counter, Double.NaN);
  }

  private static String number(String format, double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, format, value);
  }

  static Json.Members json(LadderRequest request, String device, List<RungReport> reports) {
    return Json.object()
        .with("device", device)
        .with("M", request.m())
        .with("N", request.n())
        .with("K", request.k())
        .with("seed", request.seed())
        .with("rungs", Json.array(reports, LadderTable::json));
  }

  private static Json json(RungReport r) {
    Json.Members counters = Json.object();
    for (Map.Entry<String, Double> counter : r.counters().entrySet()) {
      counters = counters.with(counter.getKey(), counter.getValue());
    }
    Json.Members time =
        Json.object()
            .with("name", r.name())
            .with("change", r.change())
            .with("dtype", r.dtype().text())
            .with("timeUs", r.timeUs());
    return new Figure(r.timeUs(), r.predictedUs(), r.least())
        .into(time)
        .with("gflops", r.gflops())
        .with("cublasUs", r.baselineUs())
        .with("relError", r.relError())
        .with("verified", r.verified())
        .with("predicted", r.predicted())
        .with("registers", r.registers())
        .with("sharedBytes", r.sharedBytes())
        .with("occupancy", r.occupancy())
        .with("predictedDramBytes", r.dramBytes())
        .with("predictedL2Bytes", r.l2Bytes())
        .with("predictedConflicts", r.conflicts())
        .with("predictedLimit", r.bound())
        .with("failure", r.failure())
        .with("missing", r.missing())
        .with("counters", counters);
  }
}
