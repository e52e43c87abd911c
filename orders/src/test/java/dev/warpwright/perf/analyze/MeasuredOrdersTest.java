package dev.warpwright.perf.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.perf.analyze.MeasuredOrders.Row;
import dev.warpwright.perf.predict.GemmPrediction;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The model beside counters of an H200. */
class MeasuredOrdersTest {
  private record Both(Row measured, GemmPrediction predicted) {
    double error() {
      return predicted.dramBytes() / measured.dramBytes() - 1;
    }
  }

  private static List<Both> all() {
    return MeasuredOrders.all().stream()
        .map(
            row ->
                new Both(
                    row,
                    GemmPrediction.of(
                        row.shape(), row.tiling(), row.order(), MeasuredOrders.device())))
        .toList();
  }

  @Test
  void bytesOfDeviceMemory() {
    List<Both> all = all();
    assertThat(all).hasSize(27);
    assertThat(all.stream().filter(b -> Math.abs(b.error()) <= 0.15))
        .hasSizeGreaterThanOrEqualTo(24);
    assertThat(all).allMatch(b -> Math.abs(b.error()) < 0.25);
  }

  /** In points; the worst is the one whose bytes are 13 % too low. */
  @Test
  void hitRatesOfTheSecondLevelCache() {
    double[] errors =
        all().stream()
            .mapToDouble(b -> 100 * Math.abs(b.predicted.hitRate() - b.measured.hitRate()))
            .sorted()
            .toArray();
    assertThat(Arrays.stream(errors).average().orElseThrow()).isLessThan(2.5);
    assertThat(errors[errors.length - 2]).isLessThan(8);
    assertThat(errors[errors.length - 1]).isLessThan(10);
  }

  @Test
  void ranksOrdersAsMeasured() {
    Map<String, List<Both>> groups =
        all().stream()
            .collect(
                Collectors.groupingBy(
                    b -> b.measured.kernel() + " " + b.measured.shape().text(),
                    LinkedHashMap::new,
                    Collectors.toList()));
    // Of two or three orders with the same bytes the times differ by less than their spread.
    groups.forEach(
        (name, group) -> {
          if (group.size() >= 5) {
            assertThat(rho(group)).as(name).isGreaterThanOrEqualTo(0.8);
          }
        });
    assertThat(groups.values().stream().filter(group -> group.size() >= 5)).hasSize(3);
  }

  private static double rho(List<Both> group) {
    double[] a = ranks(group, b -> b.measured.timeUs());
    double[] p = ranks(group, b -> b.predicted.timeUs());
    int n = group.size();
    double mean = (n - 1) / 2.0;
    double cov = 0;
    double va = 0;
    double vp = 0;
    for (int i = 0; i < n; i++) {
      cov += (a[i] - mean) * (p[i] - mean);
      va += (a[i] - mean) * (a[i] - mean);
      vp += (p[i] - mean) * (p[i] - mean);
    }
    return cov / Math.sqrt(va * vp);
  }

  /** Ties get the mean of their ranks. */
  private static double[] ranks(List<Both> group, ToDoubleFunction<Both> value) {
    return group.stream()
        .mapToDouble(
            b -> {
              double own = value.applyAsDouble(b);
              long below = group.stream().filter(o -> value.applyAsDouble(o) < own).count();
              long equal = group.stream().filter(o -> value.applyAsDouble(o) == own).count();
              return below + (equal - 1) / 2.0;
            })
        .toArray();
  }
}
