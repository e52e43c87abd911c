package dev.warpwright.perf.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.perf.order.OrderSearch.Request;
import dev.warpwright.perf.order.OrderSearch.Result;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class OrderSearchTest {
  private static Result search(TileProblem problem, CachePolicy policy, double seconds) {
    Result result =
        OrderSearch.search(new Request(problem, policy, 1, seconds), SearchMonitor.NONE);
    problem.check(result.path(), true);
    OrderSimulation again = OrderSimulation.run(problem, result.path(), policy, false);
    assertThat(again).isEqualTo(result.simulation());
    assertThat(result.lowerBound()).isLessThanOrEqualTo(result.simulation().loads());
    return result;
  }

  /** The least loads of a small grid, by a walk over all states with no cleverness at all. */
  private static int least(int rows, int columns, int capacity, CachePolicy policy) {
    record State(int visited, List<Integer> cache) {}
    int tiles = rows * columns;
    Map<State, Integer> cost = new HashMap<>();
    List<ArrayDeque<State>> open = new ArrayList<>();
    for (int i = 0; i <= 3 * tiles; i++) {
      open.add(new ArrayDeque<>());
    }
    open.getFirst().add(new State(0, List.of()));
    cost.put(new State(0, List.of()), 0);
    for (int loads = 0; ; loads++) {
      while (!open.get(loads).isEmpty()) {
        State state = open.get(loads).poll();
        if (cost.get(state) < loads) {
          continue;
        }
        if (state.visited == (1 << tiles) - 1) {
          return loads;
        }
        for (int tile = 0; tile < tiles; tile++) {
          if ((state.visited >> tile & 1) != 0) {
            continue;
          }
          List<Integer> needs = List.of(tile / columns, rows + tile % columns);
          for (List<Integer> cache : after(state.cache, needs, capacity, policy)) {
            int more = (int) needs.stream().filter(b -> !state.cache.contains(b)).count();
            var next = new State(state.visited | 1 << tile, cache);
            if (loads + more < cost.getOrDefault(next, Integer.MAX_VALUE)) {
              cost.put(next, loads + more);
              open.get(loads + more).add(next);
            }
          }
        }
      }
    }
  }

  private static List<List<Integer>> after(
      List<Integer> cache, List<Integer> needs, int capacity, CachePolicy policy) {
    List<List<Integer>> results = new ArrayList<>();
    List<Integer> all = new ArrayList<>(cache);
    switch (policy) {
      case LRU -> {
        all.removeAll(needs);
        all.addAll(needs);
      }
      case FIFO, OPTIMAL -> needs.stream().filter(b -> !cache.contains(b)).forEach(all::add);
    }
    int surplus = Math.max(0, all.size() - capacity);
    List<Integer> free = all.stream().filter(b -> !needs.contains(b)).toList();
    switch (policy) {
      case LRU, FIFO -> {
        all.removeAll(free.subList(0, surplus));
        results.add(all);
      }
      case OPTIMAL -> {
        for (int out = 0; out < 1 << free.size(); out++) {
          if (Integer.bitCount(out) == surplus) {
            List<Integer> kept = new ArrayList<>(all);
            for (int i = 0; i < free.size(); i++) {
              if ((out >> i & 1) != 0) {
                kept.remove(free.get(i));
              }
            }
            results.add(kept.stream().sorted().toList());
          }
        }
      }
    }
    return results;
  }

  @ParameterizedTest
  @EnumSource(CachePolicy.class)
  void smallGridsAgreeWithAWalkOverAllStates(CachePolicy policy) {
    int[][] grids = {{1, 1}, {1, 4}, {2, 2}, {2, 3}, {3, 2}, {3, 3}, {2, 4}, {4, 2}};
    for (int[] grid : grids) {
      for (int capacity = 2; capacity <= grid[0] + grid[1] + 1; capacity++) {
        Result result = search(TileProblem.of(grid[0], grid[1], 1, capacity), policy, 30);
        assertThat(result.simulation().loads())
            .as("%dx%d, capacity %d, %s", grid[0], grid[1], capacity, policy)
            .isEqualTo(least(grid[0], grid[1], capacity, policy));
        assertThat(result.proven()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(CachePolicy.class)
  void provesEveryGridUpTo4x5And3x6AtEveryCapacity(CachePolicy policy) {
    for (int rows = 1; rows <= 4; rows++) {
      for (int columns = 1; columns <= (rows == 4 ? 5 : 6); columns++) {
        for (int capacity = 2; capacity <= rows + columns; capacity++) {
          TileProblem problem = TileProblem.of(rows, columns, 1, capacity);
          long begin = System.nanoTime();
          Result result = search(problem, policy, 30);
          double seconds = (System.nanoTime() - begin) / 1e9;
          String what =
              String.format(Locale.ROOT, "%dx%d, capacity %d, %s", rows, columns, capacity, policy);
          assertThat(result.proven()).as(what).isTrue();
          assertThat(result.lowerBound()).as(what).isEqualTo(result.simulation().loads());
          assertThat(seconds).as(what).isLessThan(rows * columns <= 16 ? 2 : 30);
          if (capacity == 2) {
            assertThat(result.simulation().loads()).as(what).isEqualTo(rows * columns + 1);
          }
          if (policy == CachePolicy.OPTIMAL && capacity > Math.min(rows, columns)) {
            assertThat(result.simulation().loads()).as(what).isEqualTo(rows + columns);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"5, 5, 3, 17", "5, 5, 4, 14", "5, 5, 5, 13", "3, 8, 3, 17", "6, 6, 4, 17"})
  void provesLargerGrids(int rows, int columns, int capacity, int loads) {
    Result result = search(TileProblem.of(rows, columns, 1, capacity), CachePolicy.OPTIMAL, 60);
    assertThat(result.simulation().loads()).isEqualTo(loads);
    assertThat(result.proven()).isTrue();
  }

  @Test
  void annealsWhatIsTooLarge() {
    TileProblem large = TileProblem.of(12, 12, 1, 5);
    Result result = search(large, CachePolicy.LRU, 0.5);
    assertThat(result.proven()).isFalse();
    assertThat(result.simulation().loads()).isLessThan(60);
    var chained = new TileProblem(6, 6, 2, 4, true, TileProblem.Sizes.ONE, 6, 1);
    assertThat(search(chained, CachePolicy.LRU, 0.3).exact()).isFalse();
  }

  @Test
  void canBeWatchedAndCancelled() {
    var reports = new AtomicLong();
    var monitor =
        new SearchMonitor() {
          @Override
          public boolean cancelled() {
            return reports.get() > 2;
          }

          @Override
          public void progress(long states, long lowerBound, long loads, List<WorkItem> path) {
            reports.incrementAndGet();
            assertThat(path).hasSize(49);
          }
        };
    TileProblem problem = TileProblem.of(7, 7, 1, 3);
    long begin = System.nanoTime();
    Result result = OrderSearch.search(new Request(problem, CachePolicy.FIFO, 1, 600), monitor);
    assertThat((System.nanoTime() - begin) / 1e9).isLessThan(10);
    assertThat(result.proven()).isFalse();
    problem.check(result.path(), true);
  }

  @Test
  void whatDoesNotFitIsRefused() {
    assertThatThrownBy(() -> search(TileProblem.of(3, 3, 1, 1), CachePolicy.LRU, 1))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("capacity 1 cannot hold");
  }

  /**
   * Ready-made orders of large grids take longer than the search may: the rest are left out. On a
   * busy machine not even one may be played in time, which is an end in time, too.
   */
  @ParameterizedTest
  @CsvSource({"800, 1, 0, 64", "200, 16, 0, 300", "300, 1, 20, 350", "1024, 1, 0, 90"})
  void endsInTimeOnLargeGrids(int size, int depth, int chained, int capacity) {
    var problem =
        new TileProblem(size, size, depth, chained, false, TileProblem.Sizes.ONE, capacity, 1);
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadCpuTime();
    try {
      search(problem, CachePolicy.OPTIMAL, 0.2);
    } catch (UserError late) {
      assertThat(late).hasMessageContaining("a single order of");
    }
    assertThat((threads.getCurrentThreadCpuTime() - before) / 1e9).isLessThan(5);
  }

  @ParameterizedTest
  @CsvSource({"8, 1000000, 1, 0", "2800, 2800, 1, 0", "1025, 1024, 1, 0", "4, 4, 131073, 0"})
  void refusesWhatItCannotEndInTime(int rows, int columns, int depth, int chained) {
    var problem =
        new TileProblem(rows, columns, depth, chained, false, TileProblem.Sizes.ONE, 9, 1);
    assertThatThrownBy(() -> new Request(problem, CachePolicy.LRU, 1, 1))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("too large: at most 1048576 tiles and 4194304 accesses");
  }

  /** The first order may end late, but not without end: here its end has long passed. */
  @Test
  void refusesWhenNotOneOrderIsPlayedInTime() {
    TileProblem problem = TileProblem.of(1024, 1024, 1, 1500);
    var late = new Request(problem, CachePolicy.OPTIMAL, 1, Double.MIN_VALUE);
    assertThatThrownBy(() -> OrderSearch.search(late, SearchMonitor.NONE, 0))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("a single order of 1048576 tiles takes longer to play");
  }

  @Test
  void endsWhileTheTableGrows() {
    var asked = new AtomicLong();
    var table = new LongTable(() -> asked.incrementAndGet() > 3);
    long state = 0;
    while (!table.stopped()) {
      table.offer(++state, 0, -1);
    }
    // It grew three times, and was stopped at the fourth.
    assertThat(state).isEqualTo((1 << 15) + 1);
    assertThat(table.size()).isEqualTo(1 << 15);
  }

  @Test
  void refusesToListTooManySteps() {
    TileProblem problem = TileProblem.of(1000, 1000, 1, 2000);
    assertThatThrownBy(() -> OrderSimulation.checkDetails(problem, problem.items()))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("too many to list");
  }
}
