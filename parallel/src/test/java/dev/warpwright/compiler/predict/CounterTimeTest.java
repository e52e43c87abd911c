package dev.warpwright.compiler.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A time from counters. */
class CounterTimeTest {
  private static final DeviceModel H200 = DeviceCatalogue.find("H200 SXM").orElseThrow();

  @ParameterizedTest
  @CsvSource({
    "1e9, 0, 0, 0, 0, fma",
    "0, 1e12, 0, 0, 0, tensor",
    "0, 0, 1e9, 0, 0, shared",
    "0, 0, 0, 1e9, 0, L2",
    "0, 0, 0, 0, 1e9, DRAM"
  })
  void oneUnitAloneDecides(
      double fmas, double products, double wavefronts, double l2, double dram, String bound) {
    CounterTime time =
        CounterTime.of(
            new CounterTime.Work(fmas, products, H200.bf16Tflops(), wavefronts, l2, dram), 1, H200);
    assertThat(time.bound()).isEqualTo(bound);
    assertThat(time.micros()).isPositive();
  }

  /** 2 · 10¹² operations in bf16 at 88 % of 989 TFLOP/s. */
  /** 64 multiply-adds in a clock of an SM there, 128 elsewhere. */
  @Test
  void nothingIsFasterThanTheDataSheetSays() {
    for (DeviceModel device : DeviceCatalogue.ALL) {
      double macs = 1e12;
      double least = 2 * macs / (device.fp32Tflops() * 1e6);
      assertThat(CounterTime.of(new CounterTime.Work(macs, 0, 0, 0, 0, 0), 1, device).micros())
          .as(device.name())
          .isBetween(0.99 * least, 1.5 * least);
    }
  }

  @Test
  void tensorCoresAtTheirRate() {
    CounterTime time =
        CounterTime.of(new CounterTime.Work(0, 1e12, H200.bf16Tflops(), 0, 0, 0), 1, H200);
    assertThat(time.micros()).isCloseTo(2e12 / (989e12 * 0.88) * 1e6, within(10.0));
  }

  @Test
  void halfTheSmsTakeTwiceAsLong() {
    var work = new CounterTime.Work(1e9, 0, 0, 0, 0, 0);
    assertThat(CounterTime.of(work, 0.5, H200).micros())
        .isCloseTo(2 * CounterTime.of(work, 1, H200).micros(), within(1e-6));
  }
}
