package dev.warpwright.perf.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.order.BlockOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OrderSimulationTest {
  @Test
  void agreesWithASlowImplementationOnRandomTraces() {
    long seed = Long.getLong("seed", new Random().nextLong());
    System.err.println("OrderSimulationTest seed " + seed);
    Random random = new Random(seed);
    int played = 0;
    for (int round = 0; round < 4000; round++) {
      TileProblem problem = problem(random);
      List<WorkItem> order = order(problem, random);
      for (CachePolicy policy : CachePolicy.values()) {
        OrderSimulation fast;
        try {
          fast = OrderSimulation.run(problem, order, policy, random.nextBoolean());
        } catch (UserError tooSmall) {
          assertThat(tooSmall).hasMessageContaining("cannot hold");
          continue;
        }
        var slow = new SlowCache(problem, order, policy);
        assertThat(
                List.of(
                    fast.loads(), fast.loadedSize(), fast.hits(), fast.stores(), fast.storedSize()))
            .as("round %d, %s, %s, %s", round, problem, policy, order)
            .isEqualTo(
                List.of(slow.loads, slow.loadedSize, slow.hits, slow.stores, slow.storedSize));
        assertThat(fast.loads()).isGreaterThanOrEqualTo(bound(problem, order));
        played++;
      }
    }
    assertThat(played).isGreaterThan(6000);
  }

  private static long bound(TileProblem problem, List<WorkItem> order) {
    return order.size() == problem.items() ? OrderBounds.loads(problem) : 0;
  }

  private static TileProblem problem(Random random) {
    boolean one = random.nextBoolean();
    TileProblem.Sizes sizes =
        one
            ? TileProblem.Sizes.ONE
            : new TileProblem.Sizes(
                1 + random.nextInt(3),
                1 + random.nextInt(3),
                1 + random.nextInt(4),
                1 + random.nextInt(3),
                1 + random.nextInt(4));
    var whole =
        new TileProblem(
            1 + random.nextInt(5),
            1 + random.nextInt(5),
            1 + random.nextInt(3),
            random.nextInt(2) == 0 ? 1 + random.nextInt(3) : 0,
            random.nextBoolean(),
            sizes,
            2 + random.nextInt(one ? 9 : 24),
            1 + random.nextInt(3));
    return whole.inParts(whole.chained() == 0 ? 1 : 1 + random.nextInt(whole.columns()));
  }

  /** A random order: what is not ready yet goes to the end until it is; it may stop early. */
  static List<WorkItem> order(TileProblem problem, Random random) {
    List<WorkItem> items = TileOrders.of(problem, new BlockOrder.Row());
    Collections.shuffle(items, random);
    List<WorkItem> order = new ArrayList<>();
    while (!items.isEmpty()) {
      boolean found = false;
      for (WorkItem item : items) {
        order.add(item);
        if (problem.problemWith(order, false) == null) {
          items.remove(item);
          found = true;
          break;
        }
        order.removeLast();
      }
      if (!found) {
        break;
      }
    }
    return random.nextInt(4) == 0 ? order.subList(0, random.nextInt(order.size() + 1)) : order;
  }

  @ParameterizedTest
  @EnumSource(CachePolicy.class)
  void stepsTellWhatHappens(CachePolicy policy) {
    TileProblem problem = TileProblem.of(2, 2, 1, 2);
    OrderSimulation run =
        OrderSimulation.run(
            problem, TileOrders.of(problem, new BlockOrder.Serpentine()), policy, true);
    assertThat(run.loads()).isEqualTo(5);
    assertThat(run.hits()).isEqualTo(3);
    assertThat(run.stores()).isEqualTo(4);
    assertThat(names(problem, run.steps().get(0).loaded())).containsExactly("A(0,0)", "B(0,0)");
    assertThat(names(problem, run.steps().get(1).loaded())).containsExactly("B(0,1)");
    assertThat(names(problem, run.steps().get(1).evicted())).containsExactly("B(0,0)");
    assertThat(names(problem, run.steps().get(3).contents()))
        .containsExactlyInAnyOrder("A(1,0)", "B(0,0)");
  }

  private static List<String> names(TileProblem problem, List<Integer> blocks) {
    return blocks.stream().map(problem::name).toList();
  }

  @Test
  void resultsInTheCacheAreWrittenBackToTheEnd() {
    var problem = new TileProblem(1, 2, 1, 0, true, TileProblem.Sizes.ONE, 100, 1);
    OrderSimulation run =
        OrderSimulation.run(
            problem, TileOrders.of(problem, new BlockOrder.Row()), CachePolicy.LRU, false);
    assertThat(run.loads()).isEqualTo(3);
    assertThat(run.stores()).isEqualTo(2);
    assertThat(run.flushed()).isEqualTo(2);
  }

  /**
   * A row of C in two parts, E of one tile: the first part writes E, the second adds to it. Through
   * the cache that is a hit where E is still there, else a load; past it always a load.
   */
  @Test
  void partialSumsAreReadBack() {
    var problem = new TileProblem(1, 2, 1, 1, true, TileProblem.Sizes.ONE, 6, 1, 2);
    List<WorkItem> order = TileOrders.of(problem, "partial:2");
    assertThat(order)
        .containsExactly(
            new WorkItem(0, 0, 0),
            new WorkItem(1, 0, 0, 0),
            new WorkItem(0, 0, 1),
            new WorkItem(1, 0, 0, 1));
    // A, B(0,0), D(0,0), B(0,1), D(1,0); C and E are still there when they are read.
    OrderSimulation roomy = OrderSimulation.run(problem, order, CachePolicy.LRU, true);
    assertThat(roomy.loads()).isEqualTo(5);
    assertThat(roomy.stores()).isEqualTo(3);
    assertThat(roomy.steps().get(3).hits()).isEqualTo(2);
    // With room for three blocks E leaves while C(0,1) is made and comes again: a store more, too.
    var small = new TileProblem(1, 2, 1, 1, true, TileProblem.Sizes.ONE, 3, 1, 2);
    OrderSimulation tight = OrderSimulation.run(small, order, CachePolicy.LRU, true);
    assertThat(names(small, tight.steps().get(3).loaded())).containsExactly("D(1,0)", "E(0,0)");
    assertThat(tight.stores()).isEqualTo(4);
    // Past the cache C is loaded twice, E once, and it takes no room.
    var past = new TileProblem(1, 2, 1, 1, false, TileProblem.Sizes.ONE, 2, 1, 2);
    OrderSimulation direct = OrderSimulation.run(past, order, CachePolicy.LRU, true);
    assertThat(names(past, direct.steps().get(3).loaded()))
        .containsExactly("C(0,1)", "D(1,0)", "E(0,0)");
    assertThat(direct.steps().get(3).contents()).hasSize(2);
    assertThat(direct.stores()).isEqualTo(4);
    assertThat(OrderBounds.loads(past)).isEqualTo(1 + 2 + 2 + 2 + 1);
  }

  @Test
  void ordersThatAreNoneAreRefused() {
    TileProblem one = TileProblem.of(2, 2, 1, 4);
    var two = new TileProblem(1, 2, 1, 1, false, TileProblem.Sizes.ONE, 4, 1);
    refuses(one, List.of(new WorkItem(0, 2, 0)), "outside the grid of 2x2");
    refuses(one, List.of(new WorkItem(1, 0, 0)), "outside");
    refuses(one, List.of(new WorkItem(0, 1, 0), new WorkItem(0, 1, 0)), "a second time");
    refuses(two, List.of(new WorkItem(0, 0, 0), new WorkItem(1, 0, 0)), "before row 0 of matmul 0");
    var parts = new TileProblem(1, 3, 1, 1, false, TileProblem.Sizes.ONE, 4, 1, 2);
    refuses(
        parts,
        List.of(new WorkItem(0, 0, 0), new WorkItem(0, 0, 1), new WorkItem(1, 0, 0, 1)),
        "part 1 of tile (0, 0) of matmul 1, number 2 of the order, comes before part 1 of row 0");
    refuses(parts, List.of(new WorkItem(0, 0, 0), new WorkItem(1, 0, 0, 2)), "no part 2");
    refuses(
        new TileProblem(1, 2, 1, 1, false, TileProblem.Sizes.ONE, 9, 2, 2),
        List.of(
            new WorkItem(0, 0, 0),
            new WorkItem(0, 0, 1),
            new WorkItem(1, 0, 0, 0),
            new WorkItem(1, 0, 0, 1)),
        "in the same step as another part");
    assertThatThrownBy(() -> parts.inParts(4)).hasMessageContaining("4 parts of the second");
    assertThatThrownBy(() -> one.inParts(2)).hasMessageContaining("give chained=");
    assertThatThrownBy(() -> TileOrders.of(two, "partial:2")).hasMessageContaining("1 parts here");
    refuses(TileProblem.of(1, 1, 1, 1), List.of(new WorkItem(0, 0, 0)), "capacity 1 cannot hold");
    assertThatThrownBy(() -> one.check(List.of(), true)).hasMessageContaining("0 of 4 tiles");
    assertThatThrownBy(() -> TileProblem.of(1 << 20, 1 << 20, 1, 1))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("too large");
  }

  private static void refuses(TileProblem problem, List<WorkItem> order, String message) {
    assertThatThrownBy(() -> OrderSimulation.run(problem, order, CachePolicy.LRU, false))
        .isInstanceOf(UserError.class)
        .hasMessageContaining(message);
  }
}
