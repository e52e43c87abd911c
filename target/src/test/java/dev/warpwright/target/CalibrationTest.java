package dev.warpwright.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class CalibrationTest {
  private static final Calibration BASE =
      Calibration.parse(
          "base",
          """
          # Two models.
          device = One
          target = sm_80

          [step]
          FIRST = 1.5
          SECOND = 2e6

          [other]
          FIRST = 7
          """,
          List.of());

  private enum Two {
    FIRST,
    SECOND
  }

  private enum One {
    FIRST
  }

  @Test
  void numbersComeFromTheFile() {
    var numbers = BASE.numbers("step", Two.class);
    assertThat(numbers.at(Two.FIRST)).isEqualTo(1.5);
    assertThat(numbers.at(Two.SECOND)).isEqualTo(2e6);
  }

  @Test
  void aFileHasExactlyTheNumbersOfItsModels() {
    assertThatThrownBy(() -> BASE.numbers("other", Two.class))
        .hasMessage("calibration of One: [other] has no SECOND");
    assertThatThrownBy(() -> BASE.numbers("step", One.class))
        .hasMessage("calibration of One: [step] has more than [FIRST]");
  }

  @Test
  void whatIsExtrapolatedNamesWhatDiffers() {
    Calibration derived =
        Calibration.parse(
            "derived",
            """
            device = Other
            target = sm_86
            extrapolated from = One
            [step]
            SECOND = 3
            """,
            List.of(BASE));
    assertThat(derived.numbers("step", Two.class).at(Two.FIRST)).isEqualTo(1.5);
    assertThat(derived.numbers("step", Two.class).at(Two.SECOND)).isEqualTo(3);
    assertThat(derived.numbers("other", One.class).at(One.FIRST)).isEqualTo(7);
    assertThat(derived.text()).contains("extrapolated from = One");
    assertThatThrownBy(
            () -> Calibration.parse("f", "device = X\nextrapolated from = Y", List.of(BASE)))
        .hasMessage("f: no device Y");
  }

  @Test
  void theTextOfACalibrationSaysTheSame() {
    Calibration changed = BASE.with("step", "FIRST", 0.1);
    Calibration again = Calibration.parse("text", changed.text(), List.of());
    assertThat(again.text()).isEqualTo(changed.text());
    assertThat(again.numbers("step", Two.class).at(Two.FIRST)).isEqualTo(0.1);
    assertThat(BASE.numbers("step", Two.class).at(Two.FIRST)).isEqualTo(1.5);
  }

  @Test
  void everyDeviceHasACalibrationAndSaysWhetherItIsItsOwn() {
    for (DeviceModel device : DeviceCatalogue.ALL) {
      Calibration calibration = Calibration.of(device);
      assertThat(calibration.names("wgmma")).as(device.name()).isNotEmpty();
      assertThat(Calibration.isExtrapolated(device))
          .as(device.name())
          .isEqualTo(!device.name().equals("H200 SXM"));
    }
    assertThat(Calibration.of(GpuTarget.SM_80).device()).isEqualTo("A100 SXM 80 GB");
    assertThat(Calibration.of(GpuTarget.SM_86).device()).isEqualTo("others");
    assertThat(Calibration.of(GpuTarget.SM_90A).device()).isEqualTo("H200 SXM");
  }
}
