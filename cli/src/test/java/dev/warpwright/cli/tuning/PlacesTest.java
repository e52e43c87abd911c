package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
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

  /** Notes what happens where. */
  private static class Noted implements Places.Turns<String, Integer, Integer, Integer> {
    final List<String> notes = Collections.synchronizedList(new ArrayList<>());

    @Override
    public Integer begin(String place, Integer number) {
      notes.add("begin " + number);
      return number;
    }

    @Override
    public Integer end(String place, Integer begun, Runnable next) throws InterruptedException {
      notes.add("end " + begun);
      next.run();
      // The next piece is begun meanwhile, and does not end.
      long late = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (begun < 3 && !notes.contains("begin " + (begun + 1))) {
        assertThat(System.nanoTime()).isLessThan(late);
        TimeUnit.MILLISECONDS.sleep(1);
      }
      notes.add("ended " + begun);
      return begun * begun;
    }

    @Override
    public void leave(String place) {
      notes.add("leave " + place);
    }
  }

  private static List<CompletableFuture<Integer>> results(int count) {
    return Stream.generate(CompletableFuture<Integer>::new).limit(count).toList();
  }

  @Test
  void thePieceBehindIsBegunWhileOneEnds() throws InterruptedException {
    Noted turns = new Noted();
    List<CompletableFuture<Integer>> results = results(3);
    Places.inTurns(List.of("a"), List.of(1, 2, 3), turns, results);
    assertThat(results.stream().map(CompletableFuture::join)).containsExactly(1, 4, 9);
    assertThat(turns.notes)
        .containsExactly(
            "begin 1", "end 1", "begin 2", "ended 1", "end 2", "begin 3", "ended 2", "end 3",
            "ended 3", "leave a");
  }

  @Test
  void aPieceThatFailsStopsNoOther() throws InterruptedException {
    List<CompletableFuture<Integer>> results = results(5);
    Set<String> left = ConcurrentHashMap.newKeySet();
    Places.inTurns(
        List.of("a", "b"),
        List.of(1, 2, 3, 4, 5),
        new Places.Turns<String, Integer, Integer, Integer>() {
          @Override
          public Integer begin(String place, Integer number) {
            if (number == 2) {
              throw new IllegalArgumentException("planted at the beginning");
            }
            return number;
          }

          @Override
          public Integer end(String place, Integer begun, Runnable next) {
            if (begun == 4) {
              throw new IllegalArgumentException("planted at the end");
            }
            return begun;
          }

          @Override
          public void leave(String place) {
            assertThat(left.add(place)).isTrue();
          }
        },
        results);
    assertThat(left).containsExactlyInAnyOrder("a", "b");
    assertThat(results.get(1).exceptionNow()).hasMessage("planted at the beginning");
    assertThat(results.get(3).exceptionNow()).hasMessage("planted at the end");
    assertThat(List.of(results.get(0).join(), results.get(2).join(), results.get(4).join()))
        .containsExactly(1, 3, 5);
  }

  @Test
  void whatAnInterruptLeavesUndoneIsNotWaitedFor() throws InterruptedException {
    List<CompletableFuture<Integer>> results = results(3);
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch left = new CountDownLatch(1);
    Thread working =
        new Thread(
            () -> {
              try {
                Places.inTurns(
                    List.of("a"),
                    List.of(1, 2, 3),
                    new Noted() {
                      @Override
                      public Integer end(String place, Integer begun, Runnable next)
                          throws InterruptedException {
                        reached.countDown();
                        TimeUnit.MINUTES.sleep(5);
                        return begun;
                      }

                      @Override
                      public void leave(String place) {
                        left.countDown();
                      }
                    },
                    results);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    working.start();
    assertThat(reached.await(20, TimeUnit.SECONDS)).isTrue();
    working.interrupt();
    assertThat(left.await(20, TimeUnit.SECONDS)).isTrue();
    working.join(20_000);
    assertThat(results).allMatch(CompletableFuture::isCompletedExceptionally);
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
