package dev.warpwright.compiler.bench;

import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaEvent;
import dev.warpwright.runtime.cuda.CudaGraph;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaStream;
import java.util.Arrays;
import java.util.List;

/**
 * Times one kernel as long as its noise demands: launches back to back in a replayed graph that
 * goes through all sets of inputs, until the median is known well enough, or the kernel is known to
 * be far from the best.
 */
final class AdaptiveTimer {
  private static final double GRAPH_US = 4_000;
  private static final int MAX_LAUNCHES = 2048;
  private static final int LEAST_ROUNDS = 5;
  private static final int MOST_ROUNDS = 21;
  private static final double ENOUGH = 0.002;
  private static final double HOPELESS = 1.6;

  /**
   * A time.
   *
   * @param micros median of the rounds
   * @param spread standard error of the median, as a part of it
   */
  record Time(double micros, double spread) {}

  private AdaptiveTimer() {}

  /**
   * Times.
   *
   * @param launches one for each set
   * @param best time of the best kernel so far, in microseconds; infinite if there is none
   */
  static Time time(CudaContext context, CudaStream stream, List<CudaLaunch> launches, double best) {
    try (CudaEvent start = context.newEvent();
        CudaEvent end = context.newEvent()) {
      launches.forEach(launch -> launch.run(stream));
      start.record(stream);
      launches.getFirst().run(stream);
      end.record(stream);
      end.synchronize();
      int count = count(end.millisSince(start) * 1e3, launches.size());
      try (CudaGraph graph =
          CudaGraph.capture(
              stream,
              () -> {
                for (int i = 0; i < count; i++) {
                  launches.get(i % launches.size()).run(stream);
                }
              })) {
        graph.replay(stream);
        double[] times = new double[MOST_ROUNDS];
        for (int round = 0; round < MOST_ROUNDS; round++) {
          start.record(stream);
          graph.replay(stream);
          end.record(stream);
          end.synchronize();
          times[round] = end.millisSince(start) * 1e3 / count;
          Time now = of(Arrays.copyOf(times, round + 1));
          if (round >= 1 && now.micros() > HOPELESS * best) {
            return now;
          }
          if (round + 1 >= LEAST_ROUNDS && now.spread() < ENOUGH) {
            return now;
          }
        }
        return of(times);
      }
    }
  }

  /** So many launches that a graph runs for some milliseconds, each set equally often. */
  private static int count(double micros, int sets) {
    int rotations = (int) Math.ceil(GRAPH_US / Math.max(micros, 0.5) / sets);
    return Math.clamp(rotations, 1, Math.max(1, MAX_LAUNCHES / sets)) * sets;
  }

  /**
   * Median, and its standard error by the median absolute deviation (1.4826 makes that a standard
   * deviation for normal noise, 1.253 that of the mean one of the median).
   */
  static Time of(double[] times) {
    double median = InterleavedTimer.median(times);
    double[] deviations = Arrays.stream(times).map(t -> Math.abs(t - median)).toArray();
    double deviation = 1.4826 * InterleavedTimer.median(deviations);
    return new Time(median, 1.253 * deviation / Math.sqrt(times.length) / median);
  }
}
