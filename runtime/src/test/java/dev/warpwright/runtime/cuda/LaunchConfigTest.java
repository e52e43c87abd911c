package dev.warpwright.runtime.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LaunchConfigTest {
  @Test
  void whatNoDeviceCanRunIsRefused() {
    refused("0x1x1", () -> new Dim3(0));
    refused("-1", () -> new Dim3(1, -1));
    refused("1025x1x1 threads", () -> LaunchConfig.of(1, 1025));
    refused("32x32x2 threads", () -> LaunchConfig.of(Dim3.ONE, new Dim3(32, 32, 2)));
    refused("65535 in y or z", () -> LaunchConfig.of(new Dim3(1, 65_536), Dim3.ONE));
    refused(
        "does not divide into clusters of 2x1x1",
        () -> LaunchConfig.of(3, 32).withCluster(new Dim3(2)));
    refused("-1 bytes", () -> LaunchConfig.of(1, 32).withDynamicShared(-1));
  }

  @Test
  void onlyWhatThePlainLaunchCannotSayNeedsAttributes() {
    LaunchConfig plain = LaunchConfig.of(4, 128).withDynamicShared(1000);
    assertThat(plain.hasAttributes()).isFalse();
    assertThat(plain.withCluster(new Dim3(2)).hasAttributes()).isTrue();
    assertThat(plain.withProgrammatic(true).hasAttributes()).isTrue();
    assertThat(plain.withCooperative(true).hasAttributes()).isTrue();
    assertThat(plain.withCooperative(true).withCooperative(false)).isEqualTo(plain);
    assertThat(new Dim3(1 << 30, 60_000, 60_000).count()).isEqualTo((1L << 30) * 3_600_000_000L);
  }

  private static void refused(String message, Runnable action) {
    assertThatThrownBy(action::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
