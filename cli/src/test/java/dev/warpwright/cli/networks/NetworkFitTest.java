package dev.warpwright.cli.networks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeepStack;
import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.measure.tuning.CalibrationFit;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

class NetworkFitTest {
  private static final DeviceModel H200 = DeviceCatalogue.find("H200 SXM").orElseThrow();
  private static final Environment THERE =
      new Environment("sm_90a", "NVIDIA H200", "1", "13.0", "1");
  private static final List<String> NETWORKS =
      List.of(
          "widths=64,64,64,64 act=silu rows=1048576",
          "widths=96,96,96 act=tanh rows=16384",
          "widths=17,48,80,3 act=sin rows=65536",
          "widths=176,176,176,176,176 act=relu rows=262144");

  /** What a device would have measured that keeps to the model with these numbers. */
  private static List<TuningRecord> measured(Calibration truth) {
    List<TuningRecord> records = new ArrayList<>();
    for (String words : NETWORKS) {
      NetworkTask task =
          NetworkTask.of(NetworkTask.MLP, new KeyValues(List.of(words.split(" "))), null);
      Map<String, ToDoubleFunction<Calibration>> expected =
          DeepStack.call(
              () -> NetworkCompiler.fitted(task.graph(), H200, task.precision(), task.rows()));
      expected.forEach(
          (name, by) ->
              records.add(
                  record(
                      task,
                      name,
                      new Outcome.Measured(by.applyAsDouble(truth), 0.01, 1e-3, 1980, 40))));
      records.add(record(task, "shared chaining", new Outcome.Measured(1e9, 0.01, 1e-3, 1980, 40)));
      records.add(record(task, "gone", new Outcome.Failed(FailureReason.SPILL, "8 bytes")));
    }
    return records;
  }

  private static TuningRecord record(NetworkTask task, String name, Outcome outcome) {
    return new TuningRecord(
        task.key(), THERE, NetworkRecords.point(name), "0", outcome, Instant.EPOCH);
  }

  @Test
  void aFitFindsWhatWasChanged() {
    Calibration start = Calibration.of(GpuTarget.SM_90A);
    double slot = start.number(NetworkFit.MODEL, "SLOT");
    double launch = start.number(NetworkFit.MODEL, "LAUNCH");
    Calibration truth =
        start
            .with(NetworkFit.MODEL, "SLOT", slot * 1.5)
            .with(NetworkFit.MODEL, "LAUNCH", launch * 2);
    CalibrationFit.Result fit = NetworkFit.fit(H200, measured(truth));
    assertThat(fit.before()).isGreaterThan(0.1);
    assertThat(fit.after()).isLessThan(fit.before() / 4);
  }

  @Test
  void fewMeasurementsAreRefused() {
    assertThatThrownBy(() -> NetworkFit.fit(H200, measured(Calibration.of(H200)).subList(0, 9)))
        .isInstanceOf(UserError.class)
        .hasMessage(
            "--model chains: 9 measurements on H200 SXM are too few, 50 are needed; tune some"
                + " networks there first");
  }

  /** On another device nothing was measured. */
  @Test
  void recordsOfOtherDevicesDoNotCount() {
    DeviceModel b200 = DeviceCatalogue.find("B200").orElseThrow();
    assertThatThrownBy(() -> NetworkFit.fit(b200, measured(Calibration.of(H200))))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("0 measurements on B200");
  }
}
