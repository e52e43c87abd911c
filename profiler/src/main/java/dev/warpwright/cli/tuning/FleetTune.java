package dev.warpwright.cli.tuning;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Reports;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.tune.fleet.Fleet;
import dev.warpwright.tune.fleet.FleetProvider;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;

/** Tunes products on a fleet; each kind of device gets records of its own. */
final class FleetTune {
  private FleetTune() {}

  /**
   * Tunes.
   *
   * @param where the fleet, as {@code spark://host:7077}
   * @throws UserError if nothing on the class path knows such fleets
   */
  static Report perform(
      String where, Map<String, String> settings, TuneRequest request, Progress progress) {
    FleetProvider provider = provider(where);
    List<Report> reports = new ArrayList<>();
    try (TuningDatabase database = TuningStore.open(request.database(), progress);
        Fleet fleet = provider.open(where, settings, progress::say)) {
      List<Fleet.Kind> kinds = fleet.kinds();
      if (kinds.isEmpty()) {
        throw new DeviceError(
            "--on " + where + ": no executor with a GPU; docs/fleet.md tells how Spark finds them");
      }
      for (Fleet.Kind kind : kinds) {
        progress.say(
            String.format(
                Locale.ROOT,
                "%d of %s (%s, driver %s, %s)",
                kind.devices(),
                kind.environment().device(),
                kind.environment().target(),
                kind.environment().driver(),
                kind.environment().toolkit()));
      }
      for (Fleet.Kind kind : kinds) {
        JointSearch.run(
                request.searches(), request.together(), site(fleet, kind), database, progress)
            .forEach(found -> reports.add(report(found, kind)));
      }
      fleet.remarks().forEach(progress::say);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted; what was measured is kept, the same command goes on");
    }
    return reports.size() == 1 ? reports.getFirst() : Reports.many(reports);
  }

  private static FleetProvider provider(String where) {
    List<FleetProvider> all =
        ServiceLoader.load(FleetProvider.class).stream().map(ServiceLoader.Provider::get).toList();
    if (all.isEmpty()) {
      throw new UserError(
          "--on "
              + where
              + ": warpwright-spark is not on the class path; build it with './mvnw -pl spark -am"
              + " -DskipTests package' and start as docs/fleet.md says");
    }
    return all.stream()
        .filter(provider -> provider.takes(where))
        .findFirst()
        .orElseThrow(
            () ->
                new UserError(
                    "--on "
                        + where
                        + ": no such fleet; write spark://HOST:7077, local[N] or"
                        + " local-cluster[EXECUTORS,CORES,MIB]"));
  }

  private static JointSearch.Site site(Fleet fleet, Fleet.Kind kind) {
    return new JointSearch.Site() {
      @Override
      public Environment environment() {
        return kind.environment();
      }

      @Override
      public int sms() {
        return kind.sms();
      }

      @Override
      public int slots() {
        // Searches may share a device: while one thinks the other one measures.
        return 2 * kind.devices();
      }

      @Override
      public Measurer measurer(GemmWorkload workload, boolean free) {
        return fleet.measurer(kind, workload.key(), free);
      }
    };
  }

  private static Report report(JointSearch.Found found, Fleet.Kind kind) {
    TuningProgress done = found.progress();
    TuningProgress.Best best = done.best();
    Json.Members failures = Json.object();
    for (var failure : done.failures().entrySet()) {
      failures = failures.with(failure.getKey().text(), failure.getValue());
    }
    Json.Members json =
        Json.object()
            .with("workload", found.workload().key().text())
            .with("target", kind.environment().target())
            .with("device", kind.environment().device())
            .with("trials", done.trials())
            .with("resumed", done.resumed())
            .with("failures", failures);
    if (best != null) {
      json =
          json.with("timeUs", best.outcome().timeUs())
              .with("relError", best.outcome().relError())
              .with("verified", true)
              .with("trace", best.candidate().point().text())
              .with("sourceHash", best.sourceHash());
    }
    return new Report(
        best != null,
        kind.environment().device() + ": " + TuningView.result(found.workload(), done),
        json);
  }
}
