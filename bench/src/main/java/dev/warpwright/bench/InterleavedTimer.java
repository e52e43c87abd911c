package dev.warpwright.bench;

import java.util.Arrays;
import java.util.List;

/**
 * Times implementations in turn, round by round, so that a change of clock or a busy neighbour
 * meets all of them. Before each turn everybody's worker threads have time to fall asleep: some
 * libraries let theirs spin for milliseconds, on cores that the next implementation needs.
 */
public final class InterleavedTimer {
  private static final long TURN_NANOS = 15_000_000;

  /** Until the scheduler has spread the threads that wake up over the cores. */
  private static final long LEADING_NANOS = 20_000_000;

  private final int rounds;
  private final long pauseMillis;
  private final long warmUpNanos;

  /**
   * A timer.
   *
   * @param warmUpNanos how long each implementation runs before its calls count
   */
  public InterleavedTimer(int rounds, long pauseMillis, long warmUpNanos) {
    this.rounds = rounds;
    this.pauseMillis = pauseMillis;
    this.warmUpNanos = warmUpNanos;
  }

  /**
   * What was measured.
   *
   * @param micros median over the rounds of the time of a call
   * @param spread half the distance between the quartiles, as a part of the median
   */
  record Time(double micros, double spread) {}

  /** Times, in the order of the implementations. */
  public List<Time> measure(List<Implementation> implementations) {
    int[] calls = new int[implementations.size()];
    for (int c = 0; c < calls.length; c++) {
      calls[c] = warmUp(implementations.get(c).call());
    }
    double[][] times = new double[calls.length][rounds];
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < calls.length; i++) {
        // Every other round backwards, so that nobody always follows the same one.
        int c = round % 2 == 0 ? i : calls.length - 1 - i;
        times[c][round] = turn(implementations.get(c).call(), calls[c]);
      }
    }
    return Arrays.stream(times).map(InterleavedTimer::summary).toList();
  }

  /** How many calls make a turn. */
  private int warmUp(Runnable call) {
    long start = System.nanoTime();
    int calls = 0;
    long elapsed;
    double fastest = Double.POSITIVE_INFINITY;
    do {
      long before = System.nanoTime();
      call.run();
      long now = System.nanoTime();
      fastest = Math.min(fastest, now - before);
      elapsed = now - start;
      calls++;
    } while (elapsed < warmUpNanos || calls < 5);
    return (int) Math.max(3, TURN_NANOS / Math.max(fastest, 100));
  }

  private double turn(Runnable call, int calls) {
    sleep();
    long begin = System.nanoTime();
    do {
      call.run();
    } while (System.nanoTime() - begin < LEADING_NANOS);
    long start = System.nanoTime();
    for (int i = 0; i < calls; i++) {
      call.run();
    }
    return (System.nanoTime() - start) / 1e3 / calls;
  }

  private void sleep() {
    try {
      Thread.sleep(pauseMillis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while measuring", e);
    }
  }

  private static Time summary(double[] times) {
    double[] sorted = times.clone();
    Arrays.sort(sorted);
    int n = sorted.length;
    double median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    return new Time(median, (sorted[n * 3 / 4] - sorted[n / 4]) / 2 / median);
  }
}
