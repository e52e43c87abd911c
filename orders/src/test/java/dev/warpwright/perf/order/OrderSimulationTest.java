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
    return new TileProblem(
        1 + random.nextInt(5),
        1 + random.nextInt(5),
        1 + random.nextInt(3),
        random.nextInt(3) == 0 ? 1 + random.nextInt(3) : 0,
        random.nextBoolean(),
        sizes,
        2 + random.nextInt(one ? 9 : 24),
        1 + random.nextInt(3));
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

  @Test
  void ordersThatAreNoneAreRefused() {
    TileProblem one = TileProblem.of(2, 2, 1, 4);
    var two = new TileProblem(1, 2, 1, 1, false, TileProblem.Sizes.ONE, 4, 1);
    refuses(one, List.of(new WorkItem(0, 2, 0)), "outside the grid of 2x2");
    refuses(one, List.of(new WorkItem(1, 0, 0)), "outside");
    refuses(one, List.of(new WorkItem(0, 1, 0), new WorkItem(0, 1, 0)), "a second time");
    refuses(two, List.of(new WorkItem(0, 0, 0), new WorkItem(1, 0, 0)), "before row 0 of matmul 0");
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
