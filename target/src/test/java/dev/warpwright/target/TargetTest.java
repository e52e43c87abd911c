package dev.warpwright.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.data.Percentage.withPercentage;

import dev.warpwright.base.UserError;
import org.junit.jupiter.api.Test;

class TargetTest {
  @Test
  void areFoundByName() {
    assertThat(Target.parse("sm_80")).isSameAs(GpuTarget.SM_80);
    assertThat(Target.parse("sm_90a")).isSameAs(GpuTarget.SM_90A);
    assertThat(Target.parse("sm_90")).isSameAs(GpuTarget.SM_90A);
    assertThat(Target.parse("cpu")).isInstanceOf(HostTarget.class);
    assertThatThrownBy(() -> Target.parse("sm_70\n"))
        .isInstanceOf(UserError.class)
        .hasMessage(
            "unknown target 'sm_70?': use cpu or one of sm_75, sm_80, sm_86, sm_89, sm_90a");
  }

  @Test
  void aDeviceRunsCodeOfItsGenerationOnly() {
    assertThat(GpuTarget.forCapability(7, 5)).contains(GpuTarget.SM_75);
    assertThat(GpuTarget.forCapability(8, 7)).contains(GpuTarget.SM_86);
    assertThat(GpuTarget.forCapability(9, 0)).contains(GpuTarget.SM_90A);
    assertThat(GpuTarget.forCapability(7, 0)).isEmpty();
    assertThat(GpuTarget.forCapability(10, 0)).isEmpty();
  }

  @Test
  void countsResidentBlocks() {
    // Registers: 255 for 256 threads leave room for one block; 64 for 128 threads for eight.
    assertThat(GpuTarget.SM_80.blocksPerSm(256, 255, 0)).isEqualTo(1);
    assertThat(GpuTarget.SM_80.blocksPerSm(128, 64, 0)).isEqualTo(8);
    assertThat(GpuTarget.SM_80.blocksPerSm(1024, 65, 0)).isZero();
    // Shared memory: 48 KiB and the reserved one.
    assertThat(GpuTarget.SM_80.blocksPerSm(128, 32, 48 << 10)).isEqualTo(3);
    assertThat(GpuTarget.SM_75.blocksPerSm(64, 32, 32 << 10)).isEqualTo(2);
    // Threads and blocks.
    assertThat(GpuTarget.SM_86.blocksPerSm(512, 32, 0)).isEqualTo(3);
    assertThat(GpuTarget.SM_86.blocksPerSm(32, 16, 0)).isEqualTo(16);
  }

  @Test
  void ratesOfDevicesFollowFromTheirClocks() {
    for (DeviceModel device : DeviceCatalogue.ALL) {
      double perClock = device.target().fp32PerClock();
      double computed = device.sms() * perClock * device.boostMhz() * 1e-6;
      assertThat(computed).as(device.name()).isCloseTo(device.fp32Tflops(), withPercentage(3));
      assertThat(device.source()).isNotBlank();
    }
    assertThat(DeviceCatalogue.find("NVIDIA H200").orElseThrow().bf16Tflops()).isEqualTo(989);
    assertThat(DeviceCatalogue.find("NVIDIA A100-SXM4-80GB").orElseThrow().dramGBs())
        .isEqualTo(2039);
    assertThat(DeviceCatalogue.find("NVIDIA GeForce RTX 3050 Laptop GPU").orElseThrow().target())
        .isSameAs(GpuTarget.SM_86);
    assertThat(DeviceCatalogue.find("Voodoo 2")).isEmpty();
  }

  @Test
  void devicesWithoutCodeAreForPredictionsOnly() {
    assertThat(DeviceCatalogue.withCode("--device", "t4").name()).isEqualTo("T4");
    assertThat(DeviceCatalogue.find("NVIDIA B200").orElseThrow().hasCode()).isFalse();
    assertThat(DeviceCatalogue.find("NVIDIA GeForce RTX 5090").orElseThrow().l2Bytes())
        .isEqualTo(96L << 20);
    assertThatThrownBy(() -> DeviceCatalogue.withCode("--device", "V100"))
        .isInstanceOf(UserError.class)
        .hasMessage(
            "--device V100: no kernels are generated for sm_70; 'warpwright analyze' predicts for"
                + " it");
    assertThatThrownBy(() -> DeviceCatalogue.withCode("--device", "Voodoo"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("known are T4")
        .hasMessageNotContaining("V100");
  }

  /** Only the device of the records. */
  @Test
  void predictionsForOtherDevicesAreExtrapolated() {
    assertThat(
            DeviceCatalogue.ALL.stream()
                .filter(device -> !Calibration.isExtrapolated(device))
                .map(DeviceModel::name))
        .containsExactly("H200 SXM");
  }
}
