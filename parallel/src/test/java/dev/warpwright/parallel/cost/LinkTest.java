package dev.warpwright.parallel.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.UserError;
import dev.warpwright.target.GpuTarget;
import org.junit.jupiter.api.Test;

class LinkTest {
  @Test
  void eachDeviceSendsItsShareTwice() {
    assertThat(Link.sent(1000, 2)).isEqualTo(1000);
    assertThat(Link.sent(1000, 4)).isEqualTo(1500);
    assertThat(Link.sent(1000, 8)).isEqualTo(1750);
  }

  @Test
  void fewBytesTakeLatencyAndManyTakeBandwidth() {
    Link link = Link.require("nvlink4");
    assertThat(link.micros(0, 2)).isCloseTo(12.0 + 2 * 0.6, within(1e-9));
    assertThat(link.micros(0, 8)).isCloseTo(12.0 + 14 * 0.6, within(1e-9));
    // 64 MiB over two: as many bytes a second as the links carry, and what Simple costs before.
    assertThat(link.micros(64L << 20, 2))
        .isCloseTo(8.4 + 2 * 3.4 + (64L << 20) / 370.8e3, within(1e-9));
  }

  @Test
  void everyFigureHasItsSource() {
    assertThat(Link.ALL).allSatisfy(link -> assertThat(link.source()).hasSizeGreaterThan(20));
    assertThat(Link.usual(GpuTarget.SM_90A).name()).isEqualTo("nvlink4");
    assertThat(Link.usual(GpuTarget.SM_89).name()).isEqualTo("pcie4");
    assertThatThrownBy(() -> Link.require("string"))
        .isInstanceOf(UserError.class)
        .hasMessage("--link string: it is one of nvlink4, nvlink3, pcie5, pcie4, network400");
  }
}
