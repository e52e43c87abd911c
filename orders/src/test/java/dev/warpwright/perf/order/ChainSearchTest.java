package dev.warpwright.perf.order;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.order.OrderSearch.Request;
import dev.warpwright.perf.order.OrderSearch.Result;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The exact search beyond one matmul with one block along K. */
class ChainSearchTest {
  private static TileProblem problem(
      int rows, int columns, int depth, int chained, boolean cached, int capacity) {
    return new TileProblem(
        rows, columns, depth, chained, cached, TileProblem.Sizes.ONE, capacity, 1);
  }

  private static Result search(TileProblem problem, CachePolicy policy, double seconds) {
    Result result =
        OrderSearch.search(new Request(problem, policy, 1, seconds), SearchMonitor.NONE);
    problem.check(result.path(), true);
    assertThat(OrderSimulation.run(problem, result.path(), policy, false))
        .isEqualTo(result.simulation());
    assertThat(result.lowerBound()).isLessThanOrEqualTo(result.simulation().loads());
    return result;
  }

  /**
   * A cache under a tile's accesses, one access at a time, with everything that a policy may do.
   */
  private static final class Walk {
    private final TileProblem problem;
    private final CachePolicy policy;
    private final int last;
    private final Map<List<Integer>, Integer> found = new HashMap<>();
    private boolean adds;

    Walk(TileProblem problem, CachePolicy policy) {
      this.problem = problem;
      this.policy = policy;
      this.last = problem.chained() == 0 ? 2 : problem.parts() == 1 ? 4 : 5;
    }

    /**
     * Contents after the tile, oldest first, with the least loads that lead there.
     *
     * @param adds whether it finds a partial sum
     */
    Map<List<Integer>, Integer> after(WorkItem item, List<Integer> cache, boolean adds) {
      found.clear();
      this.adds = adds;
      List<int[]> moments = new ArrayList<>();
      for (int k = 0; k < problem.moments(item); k++) {
        moments.add(new int[] {problem.left(item, k), problem.right(item, k)});
      }
      moment(moments, 0, cache, item, 0);
      return found;
    }

    private void moment(List<int[]> moments, int k, List<Integer> cache, WorkItem item, int loads) {
      if (k == moments.size()) {
        if (problem.cachedResults()) {
          int result = problem.result(item);
          int read = adds && !cache.contains(result) ? 1 : 0;
          access(cache, result, Set.of(result), next -> keep(next, loads + read));
        } else {
          keep(cache, loads + (adds ? 1 : 0));
        }
        return;
      }
      int a = moments.get(k)[0];
      int b = moments.get(k)[1];
      Set<Integer> pinned = Set.of(a, b);
      int first = cache.contains(a) ? 0 : 1;
      access(
          cache,
          a,
          pinned,
          with -> {
            int second = with.contains(b) ? 0 : 1;
            access(
                with,
                b,
                pinned,
                both -> moment(moments, k + 1, both, item, loads + first + second));
          });
    }

    private void keep(List<Integer> cache, int loads) {
      // Results that nobody reads are the best to give up, where one may choose.
      List<Integer> key =
          policy == CachePolicy.OPTIMAL
              ? cache.stream().filter(block -> problem.matrix(block) < last).sorted().toList()
              : List.copyOf(cache);
      found.merge(key, loads, Math::min);
    }

    private void access(
        List<Integer> cache, int block, Set<Integer> pinned, Consumer<List<Integer>> then) {
      List<Integer> next = new ArrayList<>(cache);
      if (next.contains(block)) {
        if (policy == CachePolicy.LRU) {
          next.remove((Integer) block);
          next.add(block);
        }
        then.accept(next);
        return;
      }
      if (next.size() < problem.capacity()) {
        next.add(block);
        then.accept(next);
        return;
      }
      List<Integer> victims = next.stream().filter(b -> !pinned.contains(b)).toList();
      for (Integer victim : policy == CachePolicy.OPTIMAL ? victims : victims.subList(0, 1)) {
        List<Integer> without = new ArrayList<>(next);
        without.remove(victim);
        without.add(block);
        then.accept(without);
      }
    }
  }

  /** The least loads, by a walk over all states. */
  private static int least(TileProblem problem, CachePolicy policy) {
    record State(Set<WorkItem> done, List<Integer> cache) {}
    List<WorkItem> items = TileOrders.of(problem, new BlockOrder.Row());
    Map<State, Integer> cost = new HashMap<>();
    List<ArrayDeque<State>> open = new ArrayList<>();
    for (int i = 0; i <= 300; i++) {
      open.add(new ArrayDeque<>());
    }
    State start = new State(Set.of(), List.of());
    cost.put(start, 0);
    open.getFirst().add(start);
    Walk walk = new Walk(problem, policy);
    for (int loads = 0; ; loads++) {
      while (!open.get(loads).isEmpty()) {
        State state = open.get(loads).poll();
        if (cost.get(state) < loads) {
          continue;
        }
        if (state.done.size() == items.size()) {
          return loads;
        }
        for (WorkItem item : items) {
          boolean ready =
              item.gemm() == 0
                  || state.done.stream()
                          .filter(
                              t ->
                                  t.gemm() == 0
                                      && t.row() == item.row()
                                      && t.column() >= problem.partBegin(item.part())
                                      && t.column() < problem.partBegin(item.part() + 1))
                          .count()
                      == problem.moments(item);
          if (state.done.contains(item) || !ready) {
            continue;
          }
          boolean adds =
              item.gemm() == 1
                  && state.done.stream()
                      .anyMatch(
                          t ->
                              t.gemm() == 1
                                  && t.row() == item.row()
                                  && t.column() == item.column());
          Set<WorkItem> done = new HashSet<>(state.done);
          done.add(item);
          for (Map.Entry<List<Integer>, Integer> way :
              Map.copyOf(walk.after(item, state.cache, adds)).entrySet()) {
            State next = new State(done, way.getKey());
            int total = loads + way.getValue();
            if (total < cost.getOrDefault(next, Integer.MAX_VALUE)) {
              cost.put(next, total);
              open.get(total).add(next);
            }
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(CachePolicy.class)
  void smallProblemsAgreeWithAWalkOverAllStates(CachePolicy policy) {
    int[][] shapes = {
      {2, 2, 2, 0},
      {1, 3, 3, 0},
      {3, 1, 2, 0},
      {2, 3, 2, 0},
      {2, 2, 3, 0},
      {1, 2, 1, 1},
      {2, 1, 1, 2},
      {2, 2, 1, 1},
      {2, 2, 1, 2},
      {2, 1, 2, 2},
      {1, 2, 2, 2}
    };
    for (int[] s : shapes) {
      if (policy == CachePolicy.OPTIMAL && s[1] * s[2] > 4) {
        // Too many caches to walk over without cleverness.
        continue;
      }
      for (boolean cached : new boolean[] {false, true}) {
        for (int capacity = 2; capacity <= (policy == CachePolicy.OPTIMAL ? 4 : 5); capacity++) {
          TileProblem problem = problem(s[0], s[1], s[2], s[3], cached, capacity);
          assertThat(OrderSearch.exact(problem, policy)).as("%s", problem).isTrue();
          Result result = search(problem, policy, 30);
          assertThat(result.simulation().loads())
              .as("%s, %s", problem, policy)
              .isEqualTo(least(problem, policy));
          assertThat(result.proven()).as("%s, %s", problem, policy).isTrue();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(CachePolicy.class)
  void partialSumsAgreeWithAWalkOverAllStates(CachePolicy policy) {
    int[][] shapes = {{1, 2, 1, 1, 2}, {1, 2, 1, 2, 2}, {2, 2, 1, 1, 2}, {1, 3, 1, 1, 2}};
    for (int[] s : shapes) {
      for (boolean cached : new boolean[] {false, true}) {
        for (int capacity = 2; capacity <= (policy == CachePolicy.OPTIMAL ? 4 : 5); capacity++) {
          TileProblem problem = problem(s[0], s[1], s[2], s[3], cached, capacity).inParts(s[4]);
          assertThat(OrderSearch.exact(problem, policy)).as("%s", problem).isTrue();
          Result result = search(problem, policy, 30);
          assertThat(result.simulation().loads())
              .as("%s, %s", problem, policy)
              .isEqualTo(least(problem, policy));
          assertThat(result.proven()).as("%s, %s", problem, policy).isTrue();
        }
      }
    }
  }

  /** Parts of two rows of C fit beside their rows of E, whole rows of C do not. */
  @Test
  void partialSumsWinWhereARowDoesNotFit() {
    TileProblem whole = problem(2, 6, 1, 2, true, 8);
    TileProblem parts = TileOrders.problem(whole, "partial:4:2");
    assertThat(parts.parts()).isEqualTo(4);
    assertThat(TileOrders.problem(whole, "partial:8").parts()).isEqualTo(6);
    assertThat(loads(parts, "partial:4:2")).isLessThan(loads(whole, "rows:2"));
    assertThat(loads(parts, "partial:4:2")).isLessThan(loads(whole, "rows:1"));
  }

  /** Several tiles at a time, and more than are searched exactly. */
  @Test
  void partsAreSearchedWhereNothingIsProven() {
    var problem = new TileProblem(5, 4, 2, 3, true, TileProblem.Sizes.ONE, 20, 2, 2);
    Result result = search(problem, CachePolicy.LRU, 1);
    assertThat(result.exact()).isFalse();
    assertThat(result.path()).hasSize(5 * 4 + 5 * 3 * 2);
    TileProblem wide = problem(4, 8, 1, 4, true, 14).inParts(4);
    assertThat(search(wide, CachePolicy.LRU, 1).simulation().loads())
        .isLessThanOrEqualTo(loads(wide, "partial:4"));
  }

  @ParameterizedTest
  @CsvSource({
    "4, 4, 2, 0, false, 6, optimal, 21",
    "4, 4, 2, 0, false, 6, lru, 34",
    "3, 3, 3, 0, false, 8, fifo, 24",
    "3, 3, 1, 1, true, 8, lru, 15",
    "3, 3, 1, 1, false, 4, fifo, 25"
  })
  void provesSomewhatLargerProblems(
      int rows,
      int columns,
      int depth,
      int chained,
      boolean cached,
      int capacity,
      String policy,
      int loads) {
    Result result =
        search(
            problem(rows, columns, depth, chained, cached, capacity),
            CachePolicy.parse(policy),
            60);
    assertThat(result.simulation().loads()).isEqualTo(loads);
    assertThat(result.proven()).isTrue();
  }

  @Test
  void resultsAreStoredOnceWhateverTheOrder() {
    TileProblem problem = problem(3, 3, 1, 2, true, 5);
    for (CachePolicy policy : CachePolicy.values()) {
      for (String order : TileOrders.READY_MADE) {
        var items = TileOrders.of(problem, BlockOrder.parse(order));
        assertThat(OrderSimulation.run(problem, items, policy, false).stores()).isEqualTo(15);
      }
    }
  }

  /** With one tile at a time each is an order of the problem; with several, where there is one. */
  @Test
  void readyMadeChainsAreOrdersOfTheirProblem() {
    for (int[] s :
        new int[][] {{1, 1, 1, 1}, {3, 2, 2, 1}, {5, 4, 3, 1}, {6, 4, 4, 2}, {8, 6, 6, 6}}) {
      var whole = new TileProblem(s[0], s[1], 2, s[2], true, TileProblem.Sizes.ONE, 60, s[3]);
      for (String name : TileOrders.names(whole)) {
        TileProblem problem = TileOrders.problem(whole, name);
        problem.check(TileOrders.of(problem, name), true);
      }
    }
    var problem = new TileProblem(2, 2, 1, 2, true, TileProblem.Sizes.ONE, 60, 1);
    assertThat(text(TileOrders.of(problem, "rows:1"))).isEqualTo("c00 c01 e00 e01 c10 c11 e10 e11");
    assertThat(text(TileOrders.of(problem, "rows:2"))).isEqualTo("c00 c10 c01 c11 e00 e10 e01 e11");
    assertThat(text(TileOrders.of(problem, "halves"))).isEqualTo("c00 c01 c10 e00 c11 e01 e10 e11");
    assertThat(text(TileOrders.of(problem, "mixed:1")))
        .isEqualTo("c00 c01 e00 c10 e01 c11 e10 e11");
    assertThat(parts(TileOrders.of(problem.inParts(2), "partial:2")))
        .isEqualTo("c00 e00:0 e01:0 c01 e00:1 e01:1 c10 e10:0 e11:0 c11 e10:1 e11:1");
    assertThat(parts(TileOrders.of(problem.inParts(2), "partial:2:2")))
        .isEqualTo("c00 c10 e00:0 e10:0 e01:0 e11:0 c01 c11 e00:1 e10:1 e01:1 e11:1");
  }

  private static String parts(List<WorkItem> items) {
    return String.join(
        " ",
        items.stream().map(t -> text(List.of(t)) + (t.gemm() == 1 ? ":" + t.part() : "")).toList());
  }

  private static String text(List<WorkItem> items) {
    return String.join(
        " ", items.stream().map(t -> "ce".charAt(t.gemm()) + "" + t.row() + t.column()).toList());
  }

  /** Where a row of C and D fit, taking turns keeps C from being read again. */
  @Test
  void takingTurnsReadsTheFirstResultWhileItIsThere() {
    var problem = new TileProblem(8, 4, 1, 4, true, TileProblem.Sizes.ONE, 36, 1);
    long turns = loads(problem, "rows:1");
    assertThat(turns).isEqualTo(OrderBounds.loads(problem));
    assertThat(loads(problem, "row")).isGreaterThan(turns);
  }

  private static long loads(TileProblem problem, String name) {
    return OrderSimulation.run(problem, TileOrders.of(problem, name), CachePolicy.LRU, false)
        .loads();
  }
}
