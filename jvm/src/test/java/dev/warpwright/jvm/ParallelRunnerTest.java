package dev.warpwright.jvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ParallelRunnerTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void everyIterationRunsOnce(int workers) {
    try (ParallelRunner pool = new ParallelRunner(workers)) {
      for (int count : new int[] {0, 1, 2, 7, 1000}) {
        for (int round = 0; round < 200; round++) {
          AtomicIntegerArray seen = new AtomicIntegerArray(count);
          pool.run(
              count,
              (begin, end) -> {
                for (int i = begin; i < end; i++) {
                  seen.incrementAndGet(i);
                }
              });
          for (int i = 0; i < count; i++) {
            assertThat(seen.get(i)).as("iteration %d of %d", i, count).isEqualTo(1);
          }
        }
      }
    }
  }

  @Test
  void workersThatSleptWakeUp() throws InterruptedException {
    try (ParallelRunner pool = new ParallelRunner(3)) {
      for (int round = 0; round < 20; round++) {
        AtomicInteger sum = new AtomicInteger();
        pool.run(100, (begin, end) -> sum.addAndGet(end - begin));
        assertThat(sum.get()).isEqualTo(100);
        Thread.sleep(5);
      }
    }
  }

  @Test
  void effectsAreVisibleToTheCaller() {
    try (ParallelRunner pool = new ParallelRunner(4)) {
      for (int round = 1; round < 500; round++) {
        int[] plain = new int[64];
        int value = round;
        pool.run(
            64,
            (begin, end) -> {
              for (int i = begin; i < end; i++) {
                plain[i] = value;
              }
            });
        assertThat(plain).containsOnly(round);
      }
    }
  }

  @Test
  void theFirstExceptionIsThrownAndThePoolGoesOn() {
    try (ParallelRunner pool = new ParallelRunner(3)) {
      for (int round = 0; round < 50; round++) {
        assertThatThrownBy(
                () ->
                    pool.run(
                        100,
                        (begin, end) -> {
                          if (begin <= 40 && 40 < end) {
                            throw new IllegalStateException("iteration 40");
                          }
                        }))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage("iteration 40");
        AtomicInteger sum = new AtomicInteger();
        pool.run(10, (begin, end) -> sum.addAndGet(end - begin));
        assertThat(sum.get()).isEqualTo(10);
      }
    }
  }

  @Test
  void loopsInsideLoopsRunSerially() {
    try (ParallelRunner pool = new ParallelRunner(2)) {
      AtomicInteger sum = new AtomicInteger();
      pool.run(
          8,
          (begin, end) -> {
            for (int i = begin; i < end; i++) {
              Thread outer = Thread.currentThread();
              pool.run(
                  5,
                  (b, e) -> {
                    assertThat(Thread.currentThread()).isSameAs(outer);
                    sum.addAndGet(e - b);
                  });
            }
          });
      assertThat(sum.get()).isEqualTo(40);
    }
  }

  @Test
  void callersDoNotWaitForEachOther() throws InterruptedException {
    try (ParallelRunner pool = new ParallelRunner(2)) {
      AtomicInteger sum = new AtomicInteger();
      List<Thread> callers = new ArrayList<>();
      for (int c = 0; c < 4; c++) {
        Thread caller =
            new Thread(
                () -> {
                  for (int round = 0; round < 200; round++) {
                    pool.run(16, (begin, end) -> sum.addAndGet(end - begin));
                  }
                });
        caller.start();
        callers.add(caller);
      }
      for (Thread caller : callers) {
        caller.join();
      }
      assertThat(sum.get()).isEqualTo(4 * 200 * 16);
    }
  }
}
