package dev.warpwright.parallel.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

final class FleetCostTest {
  private static FleetCost.Assumptions with(double gpus, double batch, double cores) {
    return new FleetCost.Assumptions(
        gpus, 1000, 50, batch, 0.5, 0.4, 2, cores, 0.01, 0.002, 4, 0.0005, 400);
  }

  @Test
  void theSlowestPartDecides() {
    FleetCost few = FleetCost.of(with(10, 8, 8));
    assertThat(few.bottleneck()).isEqualTo("GPUs");
    assertThat(few.trialsPerSecond()).isCloseTo(10 / 0.55, within(1e-9));
    assertThat(FleetCost.of(with(10, 8, 2)).bottleneck()).isEqualTo("compilers");
    FleetCost many = FleetCost.of(with(1000, 8, 8));
    assertThat(many.bottleneck()).isEqualTo("scheduler");
    assertThat(many.trialsPerSecond()).isCloseTo(800, within(1e-9));
    FleetCost large = FleetCost.of(with(2000, 100, 8));
    assertThat(large.bottleneck()).isIn("search", "database");
    assertThat(large.trialsPerSecond()).isCloseTo(2000, within(1e-9));
  }

  @Test
  void timeSizeAndCostFollow() {
    FleetCost cost = FleetCost.of(with(10, 8, 8));
    assertThat(cost.trials()).isEqualTo(50_000);
    assertThat(cost.databaseBytes()).isEqualTo(20_000_000);
    assertThat(cost.hours()).isCloseTo(50_000 * 0.055 / 3600, within(1e-9));
    assertThat(cost.gpuHours()).isCloseTo(10 * cost.hours(), within(1e-9));
  }
}
