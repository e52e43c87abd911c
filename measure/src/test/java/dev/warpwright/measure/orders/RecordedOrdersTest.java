package dev.warpwright.measure.orders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.perf.analyze.MeasuredOrders;
import dev.warpwright.perf.predict.GemmPrediction;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What comes along, measured on an H200: complete, and beside the model. */
class RecordedOrdersTest {
  private static final List<OrderMeasurement> ALL = new RecordedOrders().all();

  private static GemmPrediction predicted(OrderMeasurement m) {
    return GemmPrediction.of(m.shape(), m.tiling(), m.order(), MeasuredOrders.device());
  }

  @Test
  void everyOneIsVerifiedTimedAndCounted() {
    assertThat(ALL).hasSize(27);
    assertThat(ALL)
        .allMatch(OrderMeasurement::verified)
        .allMatch(m -> m.times() != null && m.counters() != null && m.relError() < 2e-2);
  }

  @Test
  void timelinesHaveEachWorkItemOnAllSms() {
    List<OrderMeasurement> watched = ALL.stream().filter(m -> m.timeline() != null).toList();
    assertThat(watched).hasSizeGreaterThanOrEqualTo(13);
    for (OrderMeasurement m : watched) {
      long items =
          Math.ceilDiv(m.shape().m(), m.tiling().m()) * Math.ceilDiv(m.shape().n(), m.tiling().n());
      Timeline timeline = m.timeline();
      assertThat(timeline.events()).hasSize((int) items * m.tiling().sms());
      assertThat(timeline.events().stream().map(Timeline.Event::item).distinct().count())
          .isEqualTo(items);
      assertThat(timeline.sms()).isEqualTo(132);
      assertThat(timeline.unit()).isEqualTo(Timeline.Unit.NS);
      // The timeline is of a launch of its own, at the clock of the moment.
      assertThat(timeline.end() / 1e3)
          .isBetween(0.9 * m.counters().timeUs(), 1.25 * m.counters().timeUs());
    }
  }

  /** None of these took part in the fit. */
  @Test
  void bytesArePredicted() {
    List<Double> errors =
        ALL.stream()
            .map(m -> Math.abs(predicted(m).dramBytes() / m.counters().dramBytes() - 1))
            .toList();
    assertThat(errors.stream().filter(e -> e <= 0.15).count()).isGreaterThanOrEqualTo(26);
    assertThat(errors).allMatch(e -> e < 0.35);
  }

  @Test
  void ranksOrdersBySingleLaunches() {
    Map<String, List<OrderMeasurement>> groups =
        ALL.stream()
            .collect(
                Collectors.groupingBy(
                    m -> m.shape().text() + " " + m.tiling().text(),
                    LinkedHashMap::new,
                    Collectors.toList()));
    groups.values().removeIf(group -> group.size() < 6);
    assertThat(groups).hasSize(3);
    groups.forEach((name, group) -> assertThat(rho(group)).as(name).isGreaterThan(0.8));
  }

  private static double rho(List<OrderMeasurement> group) {
    double[] a = ranks(group.stream().mapToDouble(m -> m.counters().timeUs()).toArray());
    double[] b = ranks(group.stream().mapToDouble(m -> predicted(m).timeUs()).toArray());
    double mean = (a.length - 1) / 2.0;
    double cov = 0;
    double va = 0;
    double vb = 0;
    for (int i = 0; i < a.length; i++) {
      cov += (a[i] - mean) * (b[i] - mean);
      va += (a[i] - mean) * (a[i] - mean);
      vb += (b[i] - mean) * (b[i] - mean);
    }
    return cov / Math.sqrt(va * vb);
  }

  /** Ties get the mean of their ranks. */
  private static double[] ranks(double[] values) {
    double[] ranks = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      double below = 0;
      double equal = -1;
      for (double other : values) {
        below += other < values[i] ? 1 : 0;
        equal += other == values[i] ? 1 : 0;
      }
      ranks[i] = below + equal / 2;
    }
    return ranks;
  }
}
