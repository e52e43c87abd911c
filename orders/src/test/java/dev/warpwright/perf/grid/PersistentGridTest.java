package dev.warpwright.perf.grid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.UserError;
import dev.warpwright.families.TileTimes;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.perf.analyze.Gpus;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.order.WorkItem;
import dev.warpwright.target.DeviceModel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PersistentGridTest {
  private static final DeviceModel H200 = Gpus.find("h200");
  private static final double NOTHING = 1e30;

  /** Steps of 2 µs alone and of 3 µs beside another block, 1 µs before them and 4 behind. */
  private static final TileTimes PAIRS =
      new TileTimes(List.of(2.0, 3.0), 1, false, List.of(4.0, 4.0), NOTHING, NOTHING, 0, 6);

  private static final TileTimes ALONE =
      new TileTimes(List.of(2.0), 1, false, List.of(4.0), NOTHING, NOTHING, 0, 6);

  private static TileProblem problem(int rows, int columns, int chained) {
    return new TileProblem(
        rows, columns, 1, chained, true, new TileProblem.Sizes(8, 8, 8, 8, 8), 1 << 20, 1);
  }

  private static PersistentGrid grid(
      TileProblem problem,
      List<WorkItem> order,
      WaitPolicy waits,
      Dealing dealing,
      int sms,
      TileTimes times) {
    return new PersistentGrid(
        problem, order, waits, dealing, H200, sms, new PersistentGrid.Steps(10, 10), times);
  }

  /** What all comes from memory takes a little longer: 5 % on an H200. */
  @Test
  void aTileBeginsDoesItsStepsAndEnds() {
    TileProblem one = problem(1, 1, 0);
    GridRun run =
        grid(one, List.of(new WorkItem(0, 0, 0)), WaitPolicy.ROW, Dealing.DRAWN, 1, PAIRS).run();
    assertThat(run.timeUs()).isEqualTo(1 + 10 * 2 * 1.05 + 4, within(1e-9));
    assertThat(run.dramReadBytes()).isEqualTo(16);
    assertThat(run.dramWriteBytes()).isEqualTo(8);
    assertThat(run.hitRate()).isZero();
    assertThat(run.waiting()).isZero();
    assertThat(run.deadlock()).isNull();
  }

  @Test
  void blocksOfAnSmSlowEachOther() {
    TileProblem two = problem(1, 2, 0);
    List<WorkItem> order = TileOrders.of(two, "row");
    double apart = grid(two, order, WaitPolicy.ROW, Dealing.DRAWN, 2, PAIRS).run().timeUs();
    double together = grid(two, order, WaitPolicy.ROW, Dealing.DRAWN, 1, PAIRS).run().timeUs();
    assertThat(apart).isEqualTo(1 + 20 + 4, within(2.5));
    assertThat(together).isEqualTo(1 + 30 + 4, within(3.5));
  }

  /** Random orders, each tile of E behind its row of C: all is done, and nothing too early. */
  @ParameterizedTest
  @EnumSource(Dealing.class)
  void nothingBeginsBeforeWhatItReads(Dealing dealing) {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 40; round++) {
      TileProblem problem =
          problem(1 + random.nextInt(5), 1 + random.nextInt(5), 1 + random.nextInt(4));
      List<WorkItem> order = random(problem, random);
      WaitPolicy waits = random.nextBoolean() ? WaitPolicy.ROW : WaitPolicy.TILE;
      int sms = 1 + random.nextInt(6);
      TileTimes times = random.nextBoolean() ? PAIRS : ALONE;
      GridRun run = grid(problem, order, waits, dealing, sms, times).run();
      String what = "seed " + seed + ", round " + round;
      if (dealing == Dealing.STRIDE && run.deadlock() != null) {
        continue;
      }
      assertThat(run.deadlock()).as(what).isNull();
      assertThat(run.spans().stream().map(GridRun.Span::item).sorted())
          .as(what)
          .containsExactlyElementsOf(IntStream.range(0, order.size()).boxed().toList());
      for (GridRun.Span span : run.spans()) {
        WorkItem item = order.get(span.item());
        double least = times.stepUs().getFirst() * 10 * 0.95 / problem.moments(item);
        for (GridRun.Span other : run.spans()) {
          WorkItem before = order.get(other.item());
          if (item.gemm() == 1 && before.gemm() == 0 && before.row() == item.row()) {
            assertThat(span.ended()).as(what).isGreaterThan(other.ended() + least);
          }
          if (other.block() == span.block() && other.item() != span.item()) {
            assertThat(span.taken() >= other.ended() || other.taken() >= span.ended())
                .as(what)
                .isTrue();
          }
        }
      }
      assertThat(run.waiting() + run.idle()).as(what).isBetween(0.0, 1.0);
      assertThat(run.timeUs()).as(what).isGreaterThan(0);
    }
  }

  private static List<WorkItem> random(TileProblem problem, Random random) {
    List<WorkItem> order = new ArrayList<>(TileOrders.of(problem, "row"));
    Collections.shuffle(order, random);
    List<WorkItem> first = new ArrayList<>();
    List<WorkItem> valid = new ArrayList<>();
    int[] done = new int[problem.rows()];
    for (WorkItem item : order) {
      if (item.gemm() == 0) {
        valid.add(item);
        done[item.row()]++;
        first.removeIf(waiting -> done[waiting.row()] == problem.columns() && valid.add(waiting));
      } else if (done[item.row()] == problem.columns()) {
        valid.add(item);
      } else {
        first.add(item);
      }
    }
    return valid;
  }

  /** A part waits for its own columns of C alone, and only later ones read the sums back. */
  @Test
  void partsWaitForTheirColumnsAndAddUp() {
    TileProblem whole = problem(2, 4, 1);
    TileProblem parts = TileOrders.problem(whole, "partial:2");
    List<WorkItem> order = TileOrders.of(parts, "partial:2");
    for (WaitPolicy waits : List.of(WaitPolicy.ROW, WaitPolicy.TILE)) {
      GridRun run = grid(parts, order, waits, Dealing.DRAWN, 2, ALONE).run();
      assertThat(run.deadlock()).isNull();
      assertThat(run.spans()).hasSize(2 * (4 + 2));
    }
    double before =
        grid(whole, TileOrders.of(whole, "rows:1"), WaitPolicy.ROW, Dealing.DRAWN, 1, ALONE)
            .run()
            .l2Bytes();
    double after = grid(parts, order, WaitPolicy.ROW, Dealing.DRAWN, 1, ALONE).run().l2Bytes();
    assertThat(after - before)
        .as("two tiles of E, read back and written once more")
        .isEqualTo(2.0 * 8);
    List<WorkItem> second = List.of(new WorkItem(0, 0, 0), new WorkItem(1, 0, 0, 1));
    assertThat(grid(parts, second, WaitPolicy.ROW, Dealing.DRAWN, 1, ALONE).run().deadlock())
        .startsWith("block 0 waits for row 0 of the first, of which 0 of 2 tiles are done");
    assertThat(grid(parts, second, WaitPolicy.TILE, Dealing.DRAWN, 1, ALONE).run().deadlock())
        .startsWith("block 0 waits for tile (0, 2) of the first");
  }

  /** A tile of E holds the next tile of C while it waits: the others wait for that one in turn. */
  @Test
  void whatIsDrawnAheadHoldsUpOthers() {
    TileProblem problem = problem(32, 8, 2);
    List<WorkItem> order = TileOrders.of(problem, "rows:1");
    PersistentGrid ahead =
        new PersistentGrid(
            problem,
            order,
            WaitPolicy.ROW,
            Dealing.DRAWN_AHEAD,
            H200,
            8,
            new PersistentGrid.Steps(10, 40),
            ALONE);
    GridRun held = ahead.run();
    GridRun free = ahead.with(Dealing.DRAWN).run();
    assertThat(held.timeUs()).isGreaterThan(1.2 * free.timeUs());
    assertThat(held.waiting()).isGreaterThan(free.waiting());
  }

  @Test
  void aDeadlockSaysWhoWaitsForWhat() {
    TileProblem problem = problem(2, 2, 1);
    List<WorkItem> order = TileOrders.of(problem, "rows:1");
    GridRun drawn = grid(problem, order, WaitPolicy.GRID, Dealing.DRAWN, 1, ALONE).run();
    assertThat(drawn.deadlock())
        .isEqualTo(
            "block 0 waits for all of the first, of which 2 tiles are done, with tile (0, 0) of the"
                + " second GEMM; tile (1, 0) of the first is behind it in the order, and all blocks"
                + " wait");
    GridRun ahead = grid(problem, order, WaitPolicy.GRID, Dealing.DRAWN_AHEAD, 1, ALONE).run();
    assertThat(ahead.deadlock())
        .endsWith("block 0, which waits too, has tile (1, 0) of the first behind that");
    List<WorkItem> reversed = order.reversed();
    assertThat(grid(problem, reversed, WaitPolicy.TILE, Dealing.STRIDE, 1, ALONE).run().deadlock())
        .startsWith("block 0 waits for tile (1, 0) of the first with tile (1, 0) of the second");
    assertThat(drawn.spans()).hasSize(2);
  }

  /** 20480 tiles, 655 360 reads of operands. */
  @Test
  void largeGridsArePlayed() {
    TileProblem problem =
        new TileProblem(128, 128, 16, 32, true, new TileProblem.Sizes(8, 8, 8, 8, 8), 1 << 16, 1);
    GridRun run =
        grid(
                problem,
                TileOrders.of(problem, "rows:4"),
                WaitPolicy.ROW,
                Dealing.DRAWN_AHEAD,
                132,
                PAIRS)
            .run();
    assertThat(run.deadlock()).isNull();
    assertThat(run.spans()).hasSize(128 * 160);
  }

  @Test
  void whatIsNoOrderOfTheTilesIsRefused() {
    TileProblem problem = problem(1, 1, 1);
    assertThatThrownBy(
            () ->
                grid(
                    problem,
                    List.of(new WorkItem(0, 0, 1)),
                    WaitPolicy.ROW,
                    Dealing.DRAWN,
                    1,
                    ALONE))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("outside the grid");
  }
}
