package dev.warpwright.measure.timing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TimingOrderTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 7})
  void everybodyTakesEachPlaceEquallyOften(int timed) {
    Map<String, Integer> places = new HashMap<>();
    Map<String, Integer> neighbours = new HashMap<>();
    int rounds = 2 * timed * 6;
    for (int round = 0; round < rounds; round++) {
      int[] order = TimingOrder.of(round, timed);
      assertThat(order).hasSize(timed).doesNotHaveDuplicates();
      for (int place = 0; place < timed; place++) {
        places.merge(order[place] + " in place " + place, 1, Integer::sum);
        if (place > 0) {
          neighbours.merge(order[place] + " behind " + order[place - 1], 1, Integer::sum);
        }
      }
    }
    assertThat(places).hasSize(timed * timed);
    assertThat(places.values()).containsOnly(rounds / timed);
    // Nobody always follows the same one.
    if (timed > 2) {
      assertThat(neighbours).hasSizeGreaterThanOrEqualTo(2 * timed);
    }
  }

  @Test
  void threeMeetInAllOrders() {
    Map<String, Integer> orders = new HashMap<>();
    for (int round = 0; round < 6; round++) {
      orders.merge(java.util.Arrays.toString(TimingOrder.of(round, 3)), 1, Integer::sum);
    }
    assertThat(orders).hasSize(6);
  }

  @Test
  void quartilesStandBesideTheMedian() {
    Quantiles quantiles = Quantiles.of(new double[] {5, 1, 2, 4, 3});
    assertThat(quantiles).isEqualTo(new Quantiles(1, 2, 3, 4));
    assertThat(quantiles.relativeSpread()).isEqualTo(1.0 / 3);
    assertThat(Quantiles.of(new double[] {1, 2}).median()).isEqualTo(1.5);
    assertThat(Quantiles.of(new double[0]).median()).isNaN();
    assertThat(Quantiles.of(7).relativeSpread()).isZero();
  }
}
