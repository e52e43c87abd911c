package dev.warpwright.measure.timing;

import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaEvent;
import dev.warpwright.runtime.cuda.CudaStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Measures timed in turn, round by round and in another order each round, so that a change of clock
 * or temperature meets all of them; each goes through all sets of inputs.
 */
public final class InterleavedTimer {
  private static final int WARM_UP = 2;
  private static final int SINGLES = 10;

  /** How long a work runs before the next one does. */
  private static final double TURN_US = 20_000;

  private final CudaContext context;
  private final CudaStream stream;
  private final int sets;
  private final int rounds;
  private final int singleLaunches;

  public InterleavedTimer(CudaContext context, CudaStream stream, int sets, int rounds) {
    this(context, stream, sets, rounds, SINGLES);
  }

  /**
   * Makes a timer.
   *
   * @param singleLaunches in each round, to be timed one by one, fewer of what takes long; without
   *     them the time of one launch is that in a graph
   */
  public InterleavedTimer(
      CudaContext context, CudaStream stream, int sets, int rounds, int singleLaunches) {
    this.singleLaunches = singleLaunches;
    this.context = context;
    this.stream = stream;
    this.sets = sets;
    this.rounds = rounds;
  }

  /** Times in microseconds, in the order of the timed. */
  public List<KernelReport.Times> measure(List<TimedWork> timed) {
    List<TimedGraph> graphs = new ArrayList<>();
    try (CudaEvent start = context.newEvent();
        CudaEvent end = context.newEvent()) {
      for (TimedWork work : timed) {
        graphs.add(TimedGraph.capture(context, stream, sets, work.enqueue(), TURN_US));
      }
      double[][] graphTimes = new double[graphs.size()][rounds];
      // After the warm-up a launch's time is known.
      int launches = singleLaunches;
      double[][] singles = new double[graphs.size()][rounds * singleLaunches];
      for (int round = -WARM_UP; round < rounds; round++) {
        for (int c : TimingOrder.of(round + WARM_UP, graphs.size())) {
          double micros = graphs.get(c).replay();
          if (round >= 0) {
            graphTimes[c][round] = micros;
          } else if (micros * launches > TURN_US) {
            launches = Math.max(1, (int) (TURN_US / micros));
          }
        }
        for (int i = 0; i < launches && round >= 0; i++) {
          int at = round * launches + i;
          for (int c : TimingOrder.of(at, graphs.size())) {
            singles[c][at] = time(timed.get(c), at % sets, start, end);
          }
        }
      }
      List<KernelReport.Times> times = new ArrayList<>();
      for (int c = 0; c < graphs.size(); c++) {
        times.add(
            new KernelReport.Times(
                Quantiles.of(graphTimes[c]),
                median(
                    launches == 0 ? graphTimes[c] : Arrays.copyOf(singles[c], rounds * launches))));
      }
      return times;
    } finally {
      graphs.forEach(TimedGraph::close);
    }
  }

  private double time(TimedWork work, int set, CudaEvent start, CudaEvent end) {
    start.record(stream);
    work.enqueue().accept(set);
    end.record(stream);
    end.synchronize();
    return end.millisSince(start) * 1e3;
  }

  public static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
