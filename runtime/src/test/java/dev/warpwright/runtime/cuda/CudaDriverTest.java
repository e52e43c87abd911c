package dev.warpwright.runtime.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.base.DeviceError;
import dev.warpwright.runtime.call.Downcall;
import java.lang.invoke.MethodHandle;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class CudaDriverTest {
  @Test
  void aMissingDriverIsAnAnswerThatSaysWhatToDo() {
    assumeTrue(CudaDriver.find().isEmpty(), "this machine has a GPU");
    assertThat(CudaDriver.whyMissing()).startsWith("no NVIDIA").doesNotContain("\n", ";");
    assertThatThrownBy(CudaDriver::require)
        .isInstanceOf(DeviceError.class)
        .hasMessage(
            CudaDriver.whyMissing()
                + "; Device.best() takes the CPU then, as new CpuDevice() does");
  }

  @Test
  void aDriverThatIsThereHasDevices() {
    assumeTrue(CudaDriver.find().isPresent(), CudaDriver.whyMissing());
    CudaDriver driver = CudaDriver.require();
    assertThat(CudaDriver.whyMissing()).isEmpty();
    assertThat(driver.devices()).hasSize(driver.deviceCount());
    assertThatThrownBy(() -> driver.device(driver.deviceCount())).isInstanceOf(DeviceError.class);
  }

  @Test
  void aFunctionThatTheDriverLacksFailsWhereItIsUsed() {
    assertThat(DriverLibrary.has("cuDoesNotExist", 0)).isFalse();
    MethodHandle lacking = DriverLibrary.bind("cuDoesNotExist", JAVA_LONG);
    assertThatThrownBy(() -> Downcall.call(lacking, 1L))
        .isInstanceOf(DeviceError.class)
        .hasMessageContaining("cuDoesNotExist")
        .hasMessageContaining("update the driver");
  }

  @Test
  void theArchitectureHasAllOfTheDevicesFeatures() {
    assertThat(device(7, 5).arch()).isEqualTo("sm_75");
    assertThat(device(8, 9).arch()).isEqualTo("sm_89");
    assertThat(device(9, 0).arch()).isEqualTo("sm_90a");
    assertThat(device(10, 0).arch()).isEqualTo("sm_100a");
    assertThat(device(9, 0).computeCapability()).isEqualTo("9.0");
  }

  private static CudaDevice device(int major, int minor) {
    return new CudaDevice(0, 0, "test", new UUID(0, 0), major, minor, 1, 1, 1, 1, 1, 13000);
  }
}
