package dev.warpwright.cli.tuning;

import dev.warpwright.base.json.Json;
import dev.warpwright.families.tuned.RecordCheck;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Records among the fastest of their workloads that do not hold for the kernels of today, see
 * {@link RecordCheck}.
 */
final class StaleRecords {
  private StaleRecords() {}

  /**
   * A record that does not hold.
   *
   * @param candidate what its decisions lead to today; null if to nothing
   * @param reason in words
   */
  record Stale(TuningRecord record, @Nullable Candidate candidate, String reason) {
    String text() {
      double us =
          record.outcome() instanceof Outcome.Measured measured ? measured.timeUs() : Double.NaN;
      return String.format(
          Locale.ROOT,
          "%s: %.2f us, %s: %s",
          record.workload().text(),
          us,
          record.point().text(),
          reason);
    }

    Json json() {
      return Json.object()
          .with("workload", record.workload().text())
          .with("target", record.environment().target())
          .with("device", record.environment().device())
          .with("trace", record.point().text())
          .with(
              "timeUs",
              record.outcome() instanceof Outcome.Measured measured
                  ? measured.timeUs()
                  : Double.NaN)
          .with("reason", reason);
    }
  }

  /**
   * Those of a device, or those of all targets by their source alone where there is no device. The
   * kernels are made anew to see whether they are the same, on all cores.
   *
   * @param keep how many of the fastest of each workload are looked at
   */
  static List<Stale> find(TuningDatabase database, Optional<TuningDevice> device, int keep) {
    List<Stale> stale = new ArrayList<>();
    for (GpuTarget target : device.map(d -> List.of(d.target())).orElse(GpuTarget.ALL)) {
      OptionalInt sms = device.map(d -> OptionalInt.of(d.sms())).orElseGet(() -> sms(target));
      if (sms.isEmpty()) {
        continue;
      }
      Stream<TuningRecord> records =
          database.fastest(target.name(), keep).stream()
              .filter(
                  record ->
                      device.isEmpty()
                          || record.environment().device().equals(device.get().name()));
      stale.addAll(
          records
              .parallel()
              .map(
                  record ->
                      check(
                          record,
                          target,
                          sms.getAsInt(),
                          device.map(TuningDevice::environment).orElse(null)))
              .flatMap(Optional::stream)
              .toList());
    }
    return stale;
  }

  private static OptionalInt sms(GpuTarget target) {
    return DeviceCatalogue.ALL.stream()
        .filter(model -> model.target() == target)
        .mapToInt(DeviceModel::sms)
        .max();
  }

  private static Optional<Stale> check(
      TuningRecord record, GpuTarget target, int sms, @Nullable Environment here) {
    if (!record.workload().kind().equals(GemmWorkload.KIND)) {
      return Optional.empty();
    }
    GemmWorkload workload = GemmWorkload.of(record.workload());
    Optional<Candidate> candidate = RecordCheck.candidate(workload, target, sms, record.point());
    if (candidate.isEmpty()) {
      return Optional.of(new Stale(record, null, "its decisions lead to no kernel any more"));
    }
    String untested = RecordCheck.untested(record, candidate.get(), target, here);
    return untested.isEmpty()
        ? Optional.empty()
        : Optional.of(new Stale(record, candidate.get(), untested));
  }
}
