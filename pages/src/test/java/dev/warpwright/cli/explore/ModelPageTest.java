package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.order.CachePolicy;
import dev.warpwright.perf.order.OrderBounds;
import dev.warpwright.perf.order.OrderSimulation;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.order.WorkItem;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The page's own model of caches and orders beside Java's. */
final class ModelPageTest extends PageTest {
  /** The page's own simulation beside Java's, on random problems and orders. */
  @Test
  void thePageCountsAsJavaDoes() {
    long seed = Long.getLong("seed", new Random().nextLong());
    System.err.println("ModelPageTest seed " + seed);
    Random random = new Random(seed);
    List<Object> cases = new ArrayList<>();
    List<Object> wantedOfAll = new ArrayList<>();
    for (int round = 0; round < 150; round++) {
      boolean one = random.nextBoolean();
      var sizes =
          one
              ? TileProblem.Sizes.ONE
              : new TileProblem.Sizes(
                  1 + random.nextInt(3),
                  1 + random.nextInt(3),
                  1 + random.nextInt(3),
                  1 + random.nextInt(3),
                  1 + random.nextInt(3));
      var whole =
          new TileProblem(
              1 + random.nextInt(6),
              1 + random.nextInt(6),
              1 + random.nextInt(3),
              random.nextInt(2) == 0 ? 1 + random.nextInt(3) : 0,
              random.nextBoolean(),
              sizes,
              30 + random.nextInt(20),
              1 + random.nextInt(2));
      TileProblem problem =
          whole.inParts(whole.chained() == 0 ? 1 : 1 + random.nextInt(whole.columns()));
      CachePolicy policy = CachePolicy.values()[random.nextInt(3)];
      List<WorkItem> order = new ArrayList<>();
      List<WorkItem> second = new ArrayList<>();
      TileOrders.of(problem, new BlockOrder.Row())
          .forEach(item -> (item.gemm() == 0 ? order : second).add(item));
      Collections.shuffle(order, random);
      Collections.shuffle(second, random);
      if (order.size() % problem.atOnce() == 0) {
        order.addAll(second);
      }
      List<WorkItem> played = TileOrders.settled(problem, order);
      try {
        problem.check(played, false);
      } catch (UserError wrong) {
        // Two parts of a tile are left for one step.
        continue;
      }
      OrderSimulation java = OrderSimulation.run(problem, played, policy, true);
      List<List<Integer>> wanted = new ArrayList<>();
      wanted.add(
          numbers(
              java.loads(),
              java.loadedSize(),
              java.hits(),
              java.stores(),
              java.storedSize(),
              java.flushed(),
              OrderBounds.loads(problem)));
      java.steps()
          .forEach(
              step -> {
                wanted.add(step.loaded());
                wanted.add(step.evicted());
                wanted.add(step.contents());
              });
      cases.add(List.of(forThePage(problem, policy), forThePage(played)));
      wantedOfAll.add(wanted);
    }
    Object found =
        page.evaluate(
            """
            async cases => {
              const m = {...await import('/model.js'), ...await import('/cache.js')};
              return cases.map(([problem, order]) => {
                const run = m.simulate(problem, order, 'all');
                const out = [[run.loads, run.loaded, run.hits, run.stores, run.stored, run.flushed, m.bounds(problem).loads]];
                for (const s of run.steps) out.push(s.loaded, s.evicted, s.contents);
                return out;
              });
            }
            """,
            cases);
    assertThat(cases).hasSizeGreaterThan(100);
    for (int i = 0; i < cases.size(); i++) {
      assertThat(((List<?>) found).get(i)).as("%s", cases.get(i)).isEqualTo(wantedOfAll.get(i));
    }
  }

  private static List<Integer> numbers(long... values) {
    return java.util.Arrays.stream(values).mapToInt(Math::toIntExact).boxed().toList();
  }

  private static Map<String, Object> forThePage(TileProblem p, CachePolicy policy) {
    Map<String, Object> problem = new HashMap<>();
    problem.put("rows", p.rows());
    problem.put("columns", p.columns());
    problem.put("depth", p.depth());
    problem.put("chained", p.chained());
    problem.put("parts", p.parts());
    problem.put("cached", p.cachedResults());
    problem.put("capacity", (int) p.capacity());
    problem.put("atOnce", p.atOnce());
    problem.put("policy", policy.text());
    problem.put(
        "sizes",
        Map.of(
            "a", (int) p.sizes().a(),
            "b", (int) p.sizes().b(),
            "c", (int) p.sizes().c(),
            "d", (int) p.sizes().d(),
            "e", (int) p.sizes().e()));
    return problem;
  }

  private static List<Map<String, Integer>> forThePage(List<WorkItem> order) {
    return order.stream()
        .map(t -> Map.of("gemm", t.gemm(), "row", t.row(), "column", t.column(), "part", t.part()))
        .toList();
  }

  @Test
  void readyMadeOrdersAreThoseOfJava() {
    for (String name : TileOrders.READY_MADE) {
      for (int[] grid : new int[][] {{1, 1}, {5, 3}, {8, 8}, {3, 13}}) {
        Object tiles =
            page.evaluate(
                "async ([name, r, c]) => (await import('/orders.js')).tiles(name, r, c)",
                List.of(name, grid[0], grid[1]));
        assertThat(tiles)
            .as("%s %dx%d", name, grid[0], grid[1])
            .isEqualTo(
                BlockOrder.parse(name).tiles(grid[0], grid[1]).stream()
                    .map(t -> List.of(t.m(), t.n()))
                    .toList());
      }
    }
  }

  /** Those of two chained products too, with several tiles at a time. */
  @Test
  void readyMadeChainsAreThoseOfJava() {
    for (int[] s : new int[][] {{3, 2, 2, 1}, {5, 4, 3, 1}, {6, 4, 4, 2}, {8, 6, 3, 6}}) {
      var whole = new TileProblem(s[0], s[1], 1, s[2], true, TileProblem.Sizes.ONE, 60, s[3]);
      for (String name : TileOrders.names(whole)) {
        TileProblem problem = TileOrders.problem(whole, name);
        Object tiles =
            page.evaluate(
                """
                async ([problem, name]) => (await import('/orders.js')).readyMade(problem, name)
                  .map(({gemm, row, column, part}) => ({gemm, row, column, part}))
                """,
                List.of(forThePage(whole, CachePolicy.LRU), name));
        assertThat(tiles)
            .as("%s %s", problem, name)
            .isEqualTo(forThePage(TileOrders.of(problem, name)));
      }
    }
  }
}
