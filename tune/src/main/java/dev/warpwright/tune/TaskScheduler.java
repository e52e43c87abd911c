package dev.warpwright.tune;

import java.util.ArrayList;
import java.util.List;

/**
 * Shares trials among several searches, so that the time of all their workloads together falls
 * fastest: the next trials go to the search of which the most is expected. What is expected of a
 * search is the greater of what its last trials gained each, and a share of its time that shrinks
 * with its trials, since a search that is stuck may still find something; times count as often as a
 * workload occurs.
 */
public final class TaskScheduler {
  /** Trials that a search is given at a time. */
  private static final int ROUND = 16;

  /** Part of a time that the next {@code n} of {@code n} trials are hoped to gain. */
  private static final double HOPE = 0.2;

  /** A search that can be continued, as {@link Tuner#run}. */
  @FunctionalInterface
  public interface Search {
    /**
     * Goes on until a limit is reached.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    TuningProgress run(Tuner.Limits limits) throws InterruptedException;
  }

  /**
   * A search.
   *
   * @param occurrences how often its workload is computed
   */
  public record Task(Search search, double occurrences) {}

  private static final class State {
    final Task task;
    TuningProgress now;
    double gain;
    boolean exhausted;

    State(Task task, TuningProgress now) {
      this.task = task;
      this.now = now;
    }

    /** What a trial is expected to gain, in microseconds of all workloads together. */
    double expected() {
      TuningProgress.Best best = now.best();
      if (best == null) {
        return Double.POSITIVE_INFINITY;
      }
      double hope = HOPE * best.outcome().timeUs() / Math.max(1, now.trials());
      return task.occurrences() * Math.max(gain, hope);
    }

    /** Goes on; the result is how many trials that were. */
    int go(int trials, double seconds) throws InterruptedException {
      int before = now.trials();
      double time = time(now);
      now = task.search().run(new Tuner.Limits(before + trials, seconds));
      int made = now.trials() - before;
      exhausted = made == 0;
      gain = made == 0 || Double.isInfinite(time) ? 0 : Math.max(0, (time - time(now)) / made);
      return made;
    }

    private static double time(TuningProgress progress) {
      TuningProgress.Best best = progress.best();
      return best == null ? Double.POSITIVE_INFINITY : best.outcome().timeUs();
    }
  }

  private TaskScheduler() {}

  /**
   * Searches.
   *
   * @param limits of all searches together; trials of earlier runs count
   * @return what became of each, in order
   * @throws InterruptedException if the thread is interrupted; nothing measured is lost
   */
  public static List<TuningProgress> run(List<Task> tasks, Tuner.Limits limits)
      throws InterruptedException {
    long start = System.nanoTime();
    List<State> states = new ArrayList<>();
    int round = Math.clamp(limits.trials() / Math.max(1, tasks.size()), 1, ROUND);
    int left = limits.trials();
    for (Task task : tasks) {
      State state = new State(task, task.search().run(new Tuner.Limits(1, limits.seconds())));
      left -= state.now.trials();
      states.add(state);
    }
    for (State state : states) {
      int trials = Math.min(round - state.now.trials(), left);
      if (trials > 0 && remaining(start, limits) > 0) {
        left -= state.go(trials, remaining(start, limits));
      }
    }
    while (left > 0 && remaining(start, limits) > 0) {
      State next = null;
      for (State state : states) {
        if (!state.exhausted && (next == null || state.expected() > next.expected())) {
          next = state;
        }
      }
      if (next == null) {
        break;
      }
      left -= next.go(Math.min(round, left), remaining(start, limits));
    }
    return states.stream().map(state -> state.now).toList();
  }

  private static double remaining(long start, Tuner.Limits limits) {
    return limits.seconds() - (System.nanoTime() - start) * 1e-9;
  }
}
