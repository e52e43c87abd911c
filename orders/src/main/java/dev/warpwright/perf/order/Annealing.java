package dev.warpwright.perf.order;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Improves an order by small changes: a run of tiles is turned round or moved elsewhere. A worse
 * order is kept with a probability that falls with time.
 */
final class Annealing {
  private static final int BETWEEN_REPORTS = 64;

  /** Loads that a change may cost at the beginning, and be kept with a probability of 1/e. */
  private static final double FIRST_TEMPERATURE = 1.5;

  private static final double LAST_TEMPERATURE = 0.1;

  private final TileProblem problem;
  private final CachePolicy policy;
  private final SplittableRandom random;
  private final long bound;
  private final SearchMonitor monitor;

  /**
   * @param bound loads at which nothing is left to improve
   */
  Annealing(TileProblem problem, CachePolicy policy, long seed, long bound, SearchMonitor monitor) {
    this.problem = problem;
    this.policy = policy;
    this.random = new SplittableRandom(seed);
    this.bound = bound;
    this.monitor = monitor;
  }

  /**
   * Anneals.
   *
   * @param firstCost of the order to begin with
   * @param stop when, by {@link System#nanoTime}
   * @return the best order seen
   */
  List<WorkItem> run(List<WorkItem> first, OrderSimulation firstCost, long stop) {
    long begin = System.nanoTime();
    double unit = Math.max(problem.sizes().a(), problem.sizes().b());
    List<WorkItem> best = first;
    List<WorkItem> now = first;
    OrderSimulation bestCost = firstCost;
    long nowMoved = bestCost.movedSize();
    long last = begin;
    for (long trial = 1; ; trial++) {
      long time = System.nanoTime();
      double done = (time - begin) / (double) Math.max(1, stop - begin);
      // No trial is begun that would end too late, if it took as long as the one before.
      boolean isLate = stop - time < time - last;
      last = time;
      if (done >= 1 || isLate || bestCost.loads() <= bound || first.size() < 2) {
        return best;
      }
      if (trial % BETWEEN_REPORTS == 0) {
        if (monitor.cancelled()) {
          return best;
        }
        monitor.progress(0, bound, bestCost.loads(), best);
      }
      List<WorkItem> changed = change(now);
      if (problem.problemWith(changed, true) != null) {
        continue;
      }
      OrderSimulation cost =
          OrderSimulation.runUnless(
              () -> System.nanoTime() - stop >= 0 || monitor.cancelled(), problem, changed, policy);
      if (cost == null) {
        return best;
      }
      double temperature =
          unit * FIRST_TEMPERATURE * Math.pow(LAST_TEMPERATURE / FIRST_TEMPERATURE, done);
      double worse = cost.movedSize() - (double) nowMoved;
      if (worse <= 0 || random.nextDouble() < Math.exp(-worse / temperature)) {
        now = changed;
        nowMoved = cost.movedSize();
        if (nowMoved < bestCost.movedSize()) {
          best = now;
          bestCost = cost;
        }
      }
    }
  }

  private List<WorkItem> change(List<WorkItem> order) {
    List<WorkItem> changed = new ArrayList<>(order);
    int from = random.nextInt(order.size());
    int length = 1 + random.nextInt(Math.min(order.size() - from, 2 + order.size() / 4));
    List<WorkItem> run = changed.subList(from, from + length);
    switch (random.nextInt(3)) {
      case 0 -> Collections.reverse(run);
      case 1 -> Collections.swap(changed, from, random.nextInt(order.size()));
      default -> {
        List<WorkItem> moved = new ArrayList<>(run);
        run.clear();
        if (random.nextBoolean()) {
          Collections.reverse(moved);
        }
        changed.addAll(random.nextInt(changed.size() + 1), moved);
      }
    }
    return changed;
  }
}
