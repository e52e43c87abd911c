package dev.warpwright.cli.networks;

import dev.warpwright.base.DeepStack;
import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.measure.tuning.CalibrationFit;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.WorkloadKey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Fits what networks chained in registers are expected to take to what {@code tune} and {@code perf
 * --record} wrote down of their ways. Of a way that was timed more than once the last time counts.
 * What ways spill is in no record, so it is not weighed.
 */
public final class NetworkFit {
  /** The section of calibrations. */
  public static final String MODEL = "chains";

  private NetworkFit() {}

  /**
   * Fits.
   *
   * @param records of any devices; those of fully connected networks with random weights count
   * @throws UserError if too few ways were timed on the device
   */
  public static CalibrationFit.Result fit(DeviceModel device, List<TuningRecord> records) {
    Map<WorkloadKey, Map<String, Double>> timed = new LinkedHashMap<>();
    for (TuningRecord record : records) {
      String name = NetworkRecords.name(record.point());
      if (name != null
          && record.outcome() instanceof Outcome.Measured measured
          && record.workload().kind().equals(NetworkTask.MLP)
          && DeviceCatalogue.find(record.environment().device()).orElse(null) == device) {
        timed
            .computeIfAbsent(record.workload(), key -> new LinkedHashMap<>())
            .put(name, measured.timeUs());
      }
    }
    List<CalibrationFit.Timed> samples = new ArrayList<>();
    timed.forEach((key, ways) -> samples.addAll(samples(key, device, ways)));
    return CalibrationFit.fitTo(MODEL, device, samples);
  }

  private static List<CalibrationFit.Timed> samples(
      WorkloadKey key, DeviceModel device, Map<String, Double> ways) {
    List<String> words = List.of(key.text().split(" "));
    KeyValues values = new KeyValues(words.subList(1, words.size()));
    NetworkTask task = NetworkTask.of(key.kind(), values, null);
    Map<String, ToDoubleFunction<Calibration>> expected =
        DeepStack.call(
            () -> NetworkCompiler.fitted(task.graph(), device, task.precision(), task.rows()));
    double fastest = ways.values().stream().mapToDouble(Double::doubleValue).min().orElse(0);
    List<CalibrationFit.Timed> samples = new ArrayList<>();
    ways.forEach(
        (name, micros) -> {
          ToDoubleFunction<Calibration> by = expected.get(name);
          if (by != null) {
            samples.add(new CalibrationFit.Timed(by, micros, fastest));
          }
        });
    return samples;
  }
}
