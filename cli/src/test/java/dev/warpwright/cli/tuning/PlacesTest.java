package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.target.GpuTarget;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

final class PlacesTest {
  @Test
  void resultsAreInTheOrderOfTheWorkWhereverItWasDone() throws InterruptedException {
    CyclicBarrier both = new CyclicBarrier(2);
    Set<String> seen = ConcurrentHashMap.newKeySet();
    List<Integer> squares =
        Places.each(
            List.of("a", "b"),
            List.of(1, 2, 3, 4),
            (place, number) -> {
              seen.add(place);
              // Nobody comes through alone: both places work at the same time.
              await(both);
              return number * number;
            });
    assertThat(squares).containsExactly(1, 4, 9, 16);
    assertThat(seen).containsExactlyInAnyOrder("a", "b");
  }

  private static void await(CyclicBarrier barrier) throws InterruptedException {
    try {
      barrier.await(20, TimeUnit.SECONDS);
    } catch (BrokenBarrierException | TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aFailureIsToldWhenTheOthersAreDone() {
    Set<Integer> done = ConcurrentHashMap.newKeySet();
    assertThatThrownBy(
            () ->
                Places.each(
                    List.of("a"),
                    List.of(1, 2, 3),
                    (place, number) -> {
                      if (number == 1) {
                        throw new IllegalArgumentException("planted");
                      }
                      done.add(number);
                      return number;
                    }))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("planted");
    assertThat(done).containsExactlyInAnyOrder(2, 3);
  }

  @Test
  void eachGpuOfADeviceIsTheFirstOnce() {
    TuningDevice one = new TuningDevice("fake", 132, GpuTarget.SM_90A, TuneActionTest.ENVIRONMENT);
    assertThat(one.each()).containsExactly(one);
    TuningDevice two =
        new TuningDevice(
            "fake", 132, GpuTarget.SM_90A, TuneActionTest.ENVIRONMENT, List.of("GPU-a", "GPU-b"));
    assertThat(two.each())
        .extracting(TuningDevice::ids)
        .containsExactly(List.of("GPU-a", "GPU-b"), List.of("GPU-b", "GPU-a"));
  }
}
