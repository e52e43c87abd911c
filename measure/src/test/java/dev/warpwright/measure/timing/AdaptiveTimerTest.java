package dev.warpwright.measure.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;

final class AdaptiveTimerTest {
  private final Random random = new Random(1);
  private double clock = 1;
  private int turns;

  /** A kernel on a device whose clock wanders, by up to 30 %, from turn to turn a little. */
  private DoubleSupplier kernel(double micros) {
    return () -> {
      turns++;
      clock = Math.clamp(clock + 0.01 * random.nextGaussian(), 1, 1.3);
      return micros * clock * (1 + 0.001 * random.nextGaussian());
    };
  }

  private AdaptiveTimer.Time against(double anchor, double candidate) {
    turns = 0;
    return AdaptiveTimer.against(
        new AdaptiveTimer.Anchor(kernel(anchor), anchor), kernel(candidate));
  }

  @Test
  void inTurnTheClockDoesNotMatter() {
    for (int i = 0; i < 200; i++) {
      AdaptiveTimer.Time time = against(20, 19.6);
      assertThat(time.micros()).isCloseTo(19.6, within(0.02 * 19.6));
      assertThat(time.spread()).isLessThan(0.02);
    }
  }

  @Test
  void whatIsMuchSlowerIsGivenUpSoon() {
    AdaptiveTimer.Time hopeless = against(20, 30);
    assertThat(hopeless.micros()).isCloseTo(30, within(2.0));
    assertThat(turns).isEqualTo(5);
    clock = 1;
    against(20, 20);
    assertThat(turns).isGreaterThanOrEqualTo(10);
  }

  @Test
  void oneDisturbedTurnCostsNobodyHisChance() {
    DoubleSupplier candidate = kernel(20);
    AdaptiveTimer.Time time =
        AdaptiveTimer.against(
            new AdaptiveTimer.Anchor(kernel(20), 20),
            () -> candidate.getAsDouble() * (turns == 2 ? 3 : 1));
    assertThat(time.micros()).isCloseTo(20, within(0.4));
  }

  @Test
  void aSteadyKernelTakesFewRounds() {
    turns = 0;
    AdaptiveTimer.Time time =
        AdaptiveTimer.alone(
            () -> {
              turns++;
              return 7;
            });
    assertThat(time).isEqualTo(new AdaptiveTimer.Time(7, 0));
    assertThat(turns).isEqualTo(5);
  }

  @Test
  void graphsAreAsLongAsWantedAndUseSetsEquallyOften() {
    assertThat(TimedGraph.launches(10, 4, 20_000)).isEqualTo(2000);
    assertThat(TimedGraph.launches(10, 3, 100)).isEqualTo(12);
    assertThat(TimedGraph.launches(40_000, 2, 20_000)).isEqualTo(2);
    assertThat(TimedGraph.launches(1, 256, 20_000)).isEqualTo(4096);
  }
}
