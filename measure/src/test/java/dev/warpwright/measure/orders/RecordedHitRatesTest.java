package dev.warpwright.measure.orders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.measure.orders.OrderMeasurement.Counters;
import dev.warpwright.perf.analyze.GemmPrediction;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Hit rates of the second-level cache beside counters that took no part in the model's fit. */
final class RecordedHitRatesTest {
  @Test
  void hitRatesArePredictedWithinFivePointsInTheMeanAndEightAtWorst() {
    DeviceModel h200 = DeviceCatalogue.find("NVIDIA H200").orElseThrow();
    List<Double> errors = new ArrayList<>();
    for (OrderMeasurement m : new RecordedOrders().all()) {
      Counters counters = m.counters();
      if (counters != null) {
        GemmPrediction p = GemmPrediction.of(m.shape(), m.tiling(), m.order(), h200);
        errors.add(100 * Math.abs(p.hitRate() - counters.hitRate()));
      }
    }
    assertThat(errors).hasSizeGreaterThan(20).allMatch(error -> error < 8);
    assertThat(errors.stream().mapToDouble(error -> error).average().orElseThrow()).isLessThan(2);
  }
}
