package dev.warpwright.tune;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

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
     * @param limits of this search, trials of earlier runs included
     * @return how far it is
     * @throws InterruptedException if the thread is interrupted
     */
    TuningProgress run(Tuner.Limits limits) throws InterruptedException;
  }

  /**
   * A search.
   *
   * @param search to go on with
   * @param occurrences how often its workload is computed
   * @param targetUs a time that is good enough; 0 if none is
   */
  public record Task(Search search, double occurrences, double targetUs) {
    /**
     * A search that goes on as long as there are trials.
     *
     * @param search to go on with
     * @param occurrences how often its workload is computed
     */
    public Task(Search search, double occurrences) {
      this(search, occurrences, 0);
    }
  }

  /**
   * Where a search stands among others.
   *
   * @param place in the list of searches
   * @param progress of the search
   * @param expected what its next trial is expected to gain, in microseconds of all its occurrences
   * @param done whether it has reached its target, or has nothing left to try
   */
  public record Standing(int place, TuningProgress progress, double expected, boolean done) {}

  private static final class State {
    final int place;
    final Task task;
    @Nullable TuningProgress now;
    double gain;
    boolean exhausted;
    boolean running;
    boolean rounded;

    State(int place, Task task) {
      this.place = place;
      this.task = task;
    }

    /** What a trial is expected to gain, in microseconds of all workloads together. */
    double expected() {
      TuningProgress.Best best = now == null ? null : now.best();
      if (now == null || best == null) {
        return Double.POSITIVE_INFINITY;
      }
      double hope = HOPE * best.outcome().timeUs() / Math.max(1, now.trials());
      return task.occurrences() * Math.max(gain, hope);
    }

    boolean done() {
      return exhausted || time(now) <= task.targetUs();
    }

    /** Takes what a run has brought; returns how many trials that were. */
    int take(TuningProgress after) {
      int made = after.trials() - (now == null ? 0 : now.trials());
      double time = time(now);
      if (now != null) {
        exhausted = made == 0;
        gain = made == 0 || Double.isInfinite(time) ? 0 : Math.max(0, (time - time(after)) / made);
      }
      now = after;
      return made;
    }

    private static double time(@Nullable TuningProgress progress) {
      TuningProgress.Best best = progress == null ? null : progress.best();
      return best == null ? Double.POSITIVE_INFINITY : best.outcome().timeUs();
    }
  }

  /** What a thread takes on. */
  private record Turn(State state, int trials) {}

  private final List<State> states = new ArrayList<>();
  private final long start = System.nanoTime();
  private final Tuner.Limits limits;
  private final int round;
  private final Consumer<Standing> listener;
  private int left;

  private TaskScheduler(List<Task> tasks, Tuner.Limits limits, Consumer<Standing> listener) {
    this.limits = limits;
    this.left = limits.trials();
    this.round = Math.clamp(limits.trials() / Math.max(1, tasks.size()), 1, ROUND);
    this.listener = listener;
    for (Task task : tasks) {
      states.add(new State(states.size(), task));
    }
  }

  /**
   * Searches, one after the other.
   *
   * @param tasks searches, each of a workload
   * @param limits of all searches together; trials of earlier runs count
   * @return what became of each, in order
   * @throws InterruptedException if the thread is interrupted; nothing measured is lost
   */
  public static List<TuningProgress> run(List<Task> tasks, Tuner.Limits limits)
      throws InterruptedException {
    return run(tasks, limits, 1, standing -> {});
  }

  /**
   * Searches, several at a time.
   *
   * @param tasks searches, each of a workload
   * @param limits of all searches together; trials of earlier runs count
   * @param slots how many
   * @param listener is told after each round of a search, one call at a time
   * @return what became of each, in order
   * @throws InterruptedException if the thread is interrupted; nothing measured is lost
   */
  public static List<TuningProgress> run(
      List<Task> tasks, Tuner.Limits limits, int slots, Consumer<Standing> listener)
      throws InterruptedException {
    TaskScheduler scheduler = new TaskScheduler(tasks, limits, listener);
    List<Future<?>> all = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(slots);
    try {
      for (int i = 0; i < slots; i++) {
        all.add(
            threads.submit(
                () -> {
                  scheduler.work();
                  return null;
                }));
      }
      for (Future<?> each : all) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
    } finally {
      threads.shutdownNow();
    }
    List<TuningProgress> result = new ArrayList<>();
    for (State state : scheduler.states) {
      // What there was no time for has at least what is known of it.
      result.add(
          state.now == null ? state.task.search().run(new Tuner.Limits(1, 1e-3)) : state.now);
    }
    return result;
  }

  private void work() throws InterruptedException {
    for (Turn turn = next(); turn != null; turn = next()) {
      State state = turn.state();
      int known = state.now == null ? 0 : state.now.trials();
      TuningProgress after = null;
      try {
        after = state.task.search().run(new Tuner.Limits(known + turn.trials(), remaining()));
      } finally {
        ended(turn, after);
      }
    }
  }

  private synchronized void ended(Turn turn, @Nullable TuningProgress after) {
    State state = turn.state();
    state.running = false;
    if (after == null) {
      state.exhausted = true;
    } else {
      left += turn.trials() - state.take(after);
      listener.accept(new Standing(state.place, after, state.expected(), state.done()));
    }
    notifyAll();
  }

  /** The next round, or null at the end; waits while others may still leave trials. */
  private synchronized @Nullable Turn next() throws InterruptedException {
    while (true) {
      if (remaining() <= 0) {
        return null;
      }
      Turn turn = pick();
      if (turn != null) {
        turn.state().running = true;
        left -= turn.trials();
        return turn;
      }
      if (states.stream().noneMatch(state -> state.running)) {
        return null;
      }
      wait();
    }
  }

  /** First one trial of each, then a round of each, then of whom most is expected. */
  private @Nullable Turn pick() {
    for (State state : states) {
      if (state.now == null && !state.running) {
        return new Turn(state, 1);
      }
    }
    if (left <= 0) {
      return null;
    }
    for (State state : states) {
      if (!state.rounded && !state.running && state.now != null) {
        state.rounded = true;
        int trials = Math.min(round - state.now.trials(), left);
        if (trials > 0 && !state.done()) {
          return new Turn(state, trials);
        }
      }
    }
    State best = null;
    for (State state : states) {
      if (!state.running && !state.done() && (best == null || state.expected() > best.expected())) {
        best = state;
      }
    }
    return best == null ? null : new Turn(best, Math.min(round, left));
  }

  private double remaining() {
    return limits.seconds() - (System.nanoTime() - start) * 1e-9;
  }
}
