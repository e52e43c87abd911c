package dev.warpwright.measure.baseline;

import dev.warpwright.base.DeviceError;
import dev.warpwright.measure.timing.InterleavedTimer;
import dev.warpwright.measure.timing.TimedGraph;
import dev.warpwright.measure.timing.TimedWork;
import dev.warpwright.measure.timing.TimingOrder;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Sorts what a library suggests for one product by speed, timed as our candidates are: launches in
 * graphs, so that the time of a call counts for nothing, in turn and in another order each round,
 * with inputs that rotate. The fastest few are timed again at the end, longer, for the best of many
 * noisy times is a lucky one.
 */
public final class SuggestionRanking {
  private static final double TURN_US = 2_000;
  private static final double FINAL_TURN_US = 5_000;
  private static final int WARM_UP = 1;
  private static final int ROUNDS = 4;
  private static final int FINAL_ROUNDS = 9;
  private static final int FINALISTS = 3;

  /** What is slower than the fastest by this factor in two rounds is not timed any further. */
  private static final double HOPELESS = 1.25;

  /**
   * A suggestion's place.
   *
   * @param index in the order of the suggestions
   * @param micros median of a launch
   */
  public record Ranked(int index, double micros) {}

  private final CudaContext context;
  private final CudaStream stream;
  private final int sets;

  public SuggestionRanking(CudaContext context, CudaStream stream, int sets) {
    this.context = context;
    this.stream = stream;
    this.sets = sets;
  }

  /** A suggestion in a graph, and its times so far. */
  private static final class Entrant {
    final int index;
    final TimedGraph graph;
    double[] times = new double[0];

    Entrant(int index, TimedGraph graph) {
      this.index = index;
      this.graph = graph;
    }

    void turn(boolean counts) {
      double micros = graph.replay();
      if (counts) {
        times = Arrays.copyOf(times, times.length + 1);
        times[times.length - 1] = micros;
      }
    }

    double median() {
      return InterleavedTimer.median(times);
    }

    Ranked ranked() {
      return new Ranked(index, median());
    }
  }

  /** Fastest first, without those that are refused. */
  public List<Ranked> rank(List<TimedWork> suggestions) {
    List<Entrant> entrants = new ArrayList<>();
    try {
      capture(suggestions, TURN_US, all(suggestions.size()), entrants);
      List<Entrant> sorted = time(entrants, ROUNDS);
      List<Ranked> ranked = new ArrayList<>(sorted.stream().map(Entrant::ranked).toList());
      if (ranked.size() < 2) {
        return ranked;
      }
      int finalists = Math.min(FINALISTS, ranked.size());
      List<Integer> best = ranked.subList(0, finalists).stream().map(Ranked::index).toList();
      entrants.forEach(entrant -> entrant.graph.close());
      entrants.clear();
      capture(suggestions, FINAL_TURN_US, best, entrants);
      List<Ranked> last =
          new ArrayList<>(time(entrants, FINAL_ROUNDS).stream().map(Entrant::ranked).toList());
      last.addAll(ranked.subList(finalists, ranked.size()));
      return last;
    } finally {
      entrants.forEach(entrant -> entrant.graph.close());
    }
  }

  private static List<Integer> all(int count) {
    List<Integer> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(i);
    }
    return all;
  }

  private void capture(
      List<TimedWork> suggestions, double turnUs, List<Integer> which, List<Entrant> entrants) {
    for (int index : which) {
      try {
        entrants.add(
            new Entrant(
                index,
                TimedGraph.capture(
                    context, stream, sets, suggestions.get(index).enqueue(), turnUs)));
      } catch (DeviceError refused) {
        // A suggestion that is refused is none.
        if (context.isLost()) {
          throw refused;
        }
      }
    }
  }

  /** Fastest first; what is dropped on the way keeps the times that it has. */
  private static List<Entrant> time(List<Entrant> entrants, int rounds) {
    List<Entrant> running = new ArrayList<>(entrants);
    for (int round = -WARM_UP; round < rounds && !running.isEmpty(); round++) {
      for (int i : TimingOrder.of(round + WARM_UP, running.size())) {
        running.get(i).turn(round >= 0);
      }
      if (round >= 1) {
        double least = running.stream().mapToDouble(Entrant::median).min().orElse(0);
        running.removeIf(
            entrant -> Arrays.stream(entrant.times).min().orElse(0) > HOPELESS * least);
      }
    }
    return entrants.stream().sorted(Comparator.comparingDouble(Entrant::median)).toList();
  }
}
