package dev.warpwright.ir.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.order.BlockOrder.Tile;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class WorkListTest {
  private static final long SEED = Long.getLong("seed", 5);

  @Test
  void eachStepOfEachTileIsDoneOnce() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 2000; i++) {
      int rows = random.nextInt(1, 9);
      int columns = random.nextInt(1, 9);
      int steps = random.nextInt(1, 40);
      int workers = random.nextInt(1, 30);
      WorkDivision division =
          switch (random.nextInt(3)) {
            case 0 -> new WorkDivision.Whole();
            case 1 -> new WorkDivision.Parts(random.nextInt(2, 9));
            default -> new WorkDivision.Stream(random.nextInt(0, 3));
          };
      check(division, rows, columns, steps, workers);
    }
  }

  private static void check(WorkDivision division, int rows, int columns, int steps, int workers) {
    String what =
        String.format(
            Locale.ROOT,
            "%s of %d x %d tiles of %d steps for %d workers, seed %d",
            division.text(),
            rows,
            columns,
            steps,
            workers,
            SEED);
    WorkList list = WorkList.of(division, new BlockOrder.Grouped(2), rows, columns, steps, workers);
    assertThat(list.items().size() % workers).as(what).isZero();
    assertThat(list.table()).hasSize(WorkList.FIELDS * list.items().size());
    Map<Tile, BitSet> done = new HashMap<>();
    Map<Tile, List<WorkList.Item>> parts = new HashMap<>();
    long[] before = new long[workers];
    for (int i = 0; i < list.items().size(); i++) {
      WorkList.Item item = list.items().get(i);
      if (item.steps() == 0) {
        continue;
      }
      assertThat((long) item.before()).as(what).isEqualTo(before[i % workers]);
      before[i % workers] += item.steps();
      BitSet covered = done.computeIfAbsent(item.tile(), tile -> new BitSet());
      for (int k = item.first(); k < item.first() + item.steps(); k++) {
        assertThat(covered.get(k)).as(what).isFalse();
        covered.set(k);
      }
      parts.computeIfAbsent(item.tile(), tile -> new ArrayList<>()).add(item);
    }
    assertThat(done.keySet()).as(what).hasSize(rows * columns);
    Set<Integer> slots = new HashSet<>();
    done.forEach(
        (tile, covered) -> {
          assertThat(covered.cardinality()).as(what).isEqualTo(steps);
          List<WorkList.Item> items = parts.get(tile);
          items.sort(java.util.Comparator.comparingInt(WorkList.Item::first));
          for (int p = 0; p < items.size(); p++) {
            assertThat(items.get(p).part()).as(what).isEqualTo(p);
            assertThat(items.get(p).parts()).as(what).isEqualTo(items.size());
            boolean fresh = items.size() == 1 || slots.add(items.get(p).slot() + p);
            assertThat(fresh).as(what).isTrue();
          }
        });
    assertThat(list.slots()).as(what).isEqualTo(slots.size());
    if (division instanceof WorkDivision.Stream && rows * columns % workers != 0) {
      long share = 0;
      long least = Long.MAX_VALUE;
      for (long b : before) {
        share = Math.max(share, b);
        least = Math.min(least, b);
      }
      assertThat(share - least).as(what).isLessThanOrEqualTo(1);
    }
  }

  @Test
  void textsAreReadBack() {
    for (String text : List.of("whole", "parts:2", "parts:255", "stream:0", "stream:3")) {
      assertThat(WorkDivision.parse(text).text()).isEqualTo(text);
    }
    for (String text : List.of("", "parts:1", "parts:256", "parts", "stream:-1", "halves")) {
      assertThatThrownBy(() -> WorkDivision.parse(text))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("not '" + text + "'");
    }
  }

  @Test
  void whatTheTableCannotNameIsRefused() {
    assertThatThrownBy(
            () -> WorkList.of(new WorkDivision.Parts(2), new BlockOrder.Row(), 1, 1, 40_000, 2))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("40000 steps");
    assertThatThrownBy(
            () -> WorkList.of(new WorkDivision.Parts(200), new BlockOrder.Row(), 20, 20, 400, 2))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("80000 parts");
  }
}
