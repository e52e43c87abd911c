package dev.warpwright.measure.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.WorkloadKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CalibrationFitTest {
  private static final DeviceModel H200 = DeviceCatalogue.find("H200 SXM").orElseThrow();
  private static final List<String> KEYS =
      List.of(
          "gemm a=bf16 c=bf16 epilogue=none k=4096 layout=nt m=4096 n=4096",
          "gemm a=f32 c=f32 epilogue=none k=2048 layout=nt m=2048 n=1024");

  /** What a device would have measured that keeps to the model with these numbers. */
  private static List<TuningRecord> measured(String model, Calibration truth, int each) {
    List<TuningRecord> records = new ArrayList<>();
    Random random = new Random(16);
    for (String key : KEYS) {
      GemmWorkload workload = GemmWorkload.of(WorkloadKey.parse(key));
      Space space = GemmSpace.of(workload, H200.target(), H200.sms());
      for (int found = 0, tries = 0; found < each && tries < 100 * each; tries++) {
        Space.Drawn drawn = space.sample(random);
        if (drawn.candidate() == null || !model.equals(drawn.point().option(Space.SKETCH))) {
          continue;
        }
        double micros =
            GemmSpace.sketch(workload, H200.target(), H200.sms(), drawn.point())
                .micros(GemmSpace.decided(drawn.point()), truth);
        records.add(
            new TuningRecord(
                workload.key(),
                new Environment("sm_90a", "NVIDIA H200", "1", "13.0", "1"),
                drawn.point(),
                "0",
                new Outcome.Measured(micros, 0.01, 1e-3, 1980, 40),
                Instant.EPOCH));
        found++;
      }
    }
    return records;
  }

  @Test
  void aFitFindsWhatWasChanged() {
    Calibration usual = Calibration.of(H200);
    Calibration truth =
        usual
            .with("wgmma", "CLOCK", usual.number("wgmma", "CLOCK") * 0.7)
            .with("wgmma", "LATENCY", usual.number("wgmma", "LATENCY") * 1.6);
    CalibrationFit.Result fit = CalibrationFit.fit("wgmma", H200, measured("wgmma", truth, 60));
    assertThat(fit.before()).isGreaterThan(0.1);
    assertThat(fit.after()).isLessThan(fit.before() / 4);
    assertThat(fit.calibration().number("wgmma", "CLOCK"))
        .isLessThan(usual.number("wgmma", "CLOCK") * 0.85);
    assertThat(fit.calibration().names("simt")).isEqualTo(usual.names("simt"));
    assertThat(fit.calibration().number("simt", "READ")).isEqualTo(usual.number("simt", "READ"));
  }

  @Test
  void whatTheModelSaysAlreadyStaysAsItIs() {
    CalibrationFit.Result fit =
        CalibrationFit.fit("simt", H200, measured("simt", Calibration.of(H200), 60));
    assertThat(fit.measurements()).isEqualTo(60);
    assertThat(fit.after()).isLessThan(1e-12);
  }

  @Test
  void refusesWithTooLittleToGoBy() {
    assertThatThrownBy(() -> CalibrationFit.fit("wgmma", H200, List.of()))
        .isInstanceOf(UserError.class)
        .hasMessage(
            "--model wgmma: 0 measurements on H200 SXM are too few, 50 are needed; tune some GEMMs"
                + " there first");
    assertThatThrownBy(() -> CalibrationFit.fit("gemv", H200, List.of()))
        .isInstanceOf(UserError.class)
        .hasMessage("--model gemv: it is wgmma, mma, simt, streamed or chains");
  }
}
