package dev.warpwright.compiler.bench;

import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaEvent;
import dev.warpwright.runtime.cuda.CudaGraph;
import dev.warpwright.runtime.cuda.CudaStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Measures contestants in turn, round by round, so that a change of clock or temperature meets all
 * of them; each goes through all sets of inputs.
 */
final class InterleavedTimer {
  private static final int WARM_UP = 2;
  private static final int SINGLES = 10;
  private static final double GRAPH_US = 20_000;
  private static final int MAX_LAUNCHES = 4096;

  private final CudaContext context;
  private final CudaStream stream;
  private final int sets;
  private final int rounds;
  private final int launches;

  InterleavedTimer(CudaContext context, CudaStream stream, int sets, int rounds) {
    this(context, stream, sets, rounds, SINGLES);
  }

  /**
   * Makes a timer.
   *
   * @param singleLaunches in each round, to be timed one by one; without them the time of one
   *     launch is that in a graph
   */
  InterleavedTimer(
      CudaContext context, CudaStream stream, int sets, int rounds, int singleLaunches) {
    this.launches = singleLaunches;
    this.context = context;
    this.stream = stream;
    this.sets = sets;
    this.rounds = rounds;
  }

  /** Times in microseconds, in the order of the contestants. */
  List<KernelReport.Times> measure(List<Contestant> contestants) {
    List<CudaGraph> graphs = new ArrayList<>();
    try (CudaEvent start = context.newEvent();
        CudaEvent end = context.newEvent()) {
      int[] counts = new int[contestants.size()];
      for (int c = 0; c < counts.length; c++) {
        Contestant contestant = contestants.get(c);
        counts[c] = count(single(contestant, start, end));
        int count = counts[c];
        graphs.add(
            CudaGraph.capture(
                stream,
                () -> {
                  for (int i = 0; i < count; i++) {
                    contestant.enqueue().accept(i % sets);
                  }
                }));
      }
      double[][] graphTimes = new double[counts.length][rounds];
      double[][] singles = new double[counts.length][rounds * launches];
      for (int round = -WARM_UP; round < rounds; round++) {
        for (int c = 0; c < counts.length; c++) {
          start.record(stream);
          graphs.get(c).replay(stream);
          end.record(stream);
          end.synchronize();
          if (round >= 0) {
            graphTimes[c][round] = end.millisSince(start) * 1e3 / counts[c];
          }
        }
        for (int i = 0; i < launches; i++) {
          for (int c = 0; c < counts.length; c++) {
            int set = Math.floorMod(round * launches + i, sets);
            double micros = time(contestants.get(c), set, start, end);
            if (round >= 0) {
              singles[c][round * launches + i] = micros;
            }
          }
        }
      }
      List<KernelReport.Times> times = new ArrayList<>();
      for (int c = 0; c < counts.length; c++) {
        times.add(
            new KernelReport.Times(
                median(graphTimes[c]), median(launches == 0 ? graphTimes[c] : singles[c])));
      }
      return times;
    } finally {
      graphs.forEach(CudaGraph::close);
    }
  }

  /** A first estimate, after every set was used once. */
  private double single(Contestant contestant, CudaEvent start, CudaEvent end) {
    for (int set = 0; set < sets; set++) {
      contestant.enqueue().accept(set);
    }
    return time(contestant, 0, start, end);
  }

  private double time(Contestant contestant, int set, CudaEvent start, CudaEvent end) {
    start.record(stream);
    contestant.enqueue().accept(set);
    end.record(stream);
    end.synchronize();
    return end.millisSince(start) * 1e3;
  }

  /** So many launches in a graph that it runs for some milliseconds; each set equally often. */
  private int count(double micros) {
    int rotations = (int) Math.ceil(GRAPH_US / Math.max(micros, 0.5) / sets);
    return Math.clamp(rotations, 1, Math.max(1, MAX_LAUNCHES / sets)) * sets;
  }

  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
