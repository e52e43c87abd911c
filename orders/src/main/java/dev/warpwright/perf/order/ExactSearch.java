package dev.warpwright.perf.order;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A* over a {@link SearchSpace}: states by the least number of loads that their completion can
 * have, lowest first. So each value is exhausted before the next one is tried, and when the first
 * complete order comes, or the value of one that is known is reached, that order is optimal.
 */
final class ExactSearch {
  private static final int BETWEEN_LOOKS = 8;

  /** So many numbers on a growing stack take as much memory as a state does. */
  private static final int WAITING_A_STATE = 4;

  private static final long BETWEEN_REPORTS = 20_000_000;

  /**
   * How a search ended.
   *
   * @param lowerBound what is proven
   * @param path an order with fewer loads than the one that was known; null if none was found
   */
  record Outcome(long states, int lowerBound, @Nullable List<WorkItem> path) {}

  private final SearchSpace space;
  private final int known;
  private final long mostStates;
  private final SearchMonitor monitor;
  private final List<WorkItem> knownPath;
  private final LongTable table;
  private final IntStack[] open;
  private int floor;
  private long expanded;
  private long waiting;
  private long told;

  /**
   * @param known loads of an order that is known, at most 126; only better ones are looked for
   * @param mostStates that may be remembered; beyond, the search gives up
   */
  ExactSearch(
      SearchSpace space,
      int known,
      List<WorkItem> knownPath,
      long mostStates,
      SearchMonitor monitor) {
    this.space = space;
    this.known = known;
    this.knownPath = knownPath;
    this.mostStates = mostStates;
    this.monitor = monitor;
    this.table = new LongTable(monitor::cancelled);
    this.open = new IntStack[known];
    Arrays.setAll(open, f -> new IntStack());
  }

  Outcome run(int lowerBound) {
    floor = lowerBound;
    push(space.start(), 0, -1);
    while (floor < known) {
      if (open[floor].size == 0) {
        floor++;
        continue;
      }
      int entry = open[floor].pop();
      waiting--;
      if (!table.expand(entry)) {
        continue;
      }
      long state = table.key(entry);
      if (space.done(state)) {
        return new Outcome(table.size(), floor, replay(entry));
      }
      int cost = table.cost(entry);
      space.expand(state, (next, loads) -> push(next, cost + loads, entry));
      boolean looks = ++expanded % BETWEEN_LOOKS == 0;
      if (looks && monitor.cancelled() || table.stopped() || remembered() > mostStates) {
        return new Outcome(table.size(), floor, null);
      }
      if (looks && System.nanoTime() - told > BETWEEN_REPORTS) {
        told = System.nanoTime();
        monitor.progress(table.size(), floor, known, knownPath);
      }
    }
    return new Outcome(table.size(), known, null);
  }

  private void push(long state, int cost, int parent) {
    int value = cost + space.bound(state);
    if (value >= known) {
      return;
    }
    int entry = table.offer(state, cost, parent);
    if (entry >= 0) {
      open[Math.max(value, floor)].push(entry);
      waiting++;
    }
  }

  /** States, and what waits to be expanded as the states that take as much memory. */
  private long remembered() {
    return table.size() + waiting / WAITING_A_STATE;
  }

  /**
   * The tiles on the way to a state. Each state has its own numbering of rows and columns, so that
   * the steps are made once more, to see how the numbers change.
   */
  private List<WorkItem> replay(int last) {
    List<Long> states = new ArrayList<>();
    for (int entry = last; entry >= 0; entry = table.parent(entry)) {
      states.addFirst(table.key(entry));
    }
    int[] names = new int[space.numbers()];
    Arrays.setAll(names, i -> i);
    List<WorkItem> items = new ArrayList<>();
    for (int i = 1; i < states.size(); i++) {
      var step = new Step(states.get(i));
      space.expand(states.get(i - 1), step::accept);
      items.addAll(space.items(step.tiles, names));
      int[] before = names;
      names = Arrays.stream(step.renumbering).map(old -> before[old]).toArray();
    }
    return items;
  }

  /** Catches the cheapest step to a state. */
  private final class Step {
    private final long wanted;
    private int loads = Integer.MAX_VALUE;
    private long tiles;
    private int[] renumbering = {};

    Step(long wanted) {
      this.wanted = wanted;
    }

    void accept(long next, int cost) {
      if (next == wanted && cost < loads) {
        loads = cost;
        tiles = space.stepTiles;
        renumbering = space.renumbering();
      }
    }
  }

  private static final class IntStack {
    private int[] values = new int[16];
    private int size;

    void push(int value) {
      if (size == values.length) {
        values = Arrays.copyOf(values, 2 * size);
      }
      values[size++] = value;
    }

    int pop() {
      return values[--size];
    }
  }
}
