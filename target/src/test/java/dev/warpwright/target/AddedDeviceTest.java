package dev.warpwright.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** The steps of docs/extending/device.md, with a row that the catalogue does not have. */
class AddedDeviceTest {
  private static final String ROW =
      "A30, nvidia a30, sm_80, 56, 1440, 10.3, 82, 165, 165, 0, 330, 24, 933, 24, A30 data sheet";

  @Test
  void aRowIsAllThatADeviceNeeds() {
    DeviceModel device = DeviceCatalogue.device(ROW);
    assertThat(device.name()).isEqualTo("A30");
    assertThat(device.target()).isSameAs(GpuTarget.SM_80);
    assertThat(device.hasCode()).isTrue();
    assertThat(device.l2Bytes()).isEqualTo(24L << 20);
    double fp32 = device.sms() * device.boostMhz() * device.target().fp32PerClock() * 1e-6;
    assertThat(device.fp32Tflops()).isBetween(0.97 * fp32, 1.03 * fp32);
  }

  @Test
  void itIsPredictedByItsTargetsNumbersAndSaysSo() {
    DeviceModel device = DeviceCatalogue.device(ROW);
    assertThat(Calibration.of(device)).isSameAs(Calibration.of(GpuTarget.SM_80));
    assertThat(Calibration.isExtrapolated(device)).isTrue();
  }

  @Test
  void aRowThatIsNoDeviceIsRefused() {
    assertThatThrownBy(() -> DeviceCatalogue.device("A30, nvidia a30, sm_80"))
        .hasMessageContaining("devices.csv has a row of 3 cells");
    assertThatThrownBy(() -> DeviceCatalogue.device(ROW.replace("sm_80", "sm_99")))
        .hasMessage("devices.csv: no target sm_99");
  }
}
