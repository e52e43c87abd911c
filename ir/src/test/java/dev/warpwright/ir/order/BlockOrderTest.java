package dev.warpwright.ir.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.order.BlockOrder.Tile;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockOrderTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "row",
        "column",
        "serpentine",
        "grouped:1",
        "grouped:8",
        "grouped:999999999",
        "morton",
        "hilbert",
        "nested:1",
        "nested:3",
        "nested:999999999"
      })
  void everyTileComesOnceInEveryGrid(String text) {
    BlockOrder order = BlockOrder.parse(text);
    assertThat(order.text()).isEqualTo(text);
    int[][] grids = {{1, 1}, {1, 7}, {9, 1}, {4, 4}, {5, 3}, {3, 13}, {16, 16}, {17, 31}};
    for (int[] grid : grids) {
      List<Tile> tiles = order.tiles(grid[0], grid[1]);
      assertThat(tiles).hasSize(grid[0] * grid[1]);
      assertThat(new HashSet<>(tiles)).hasSize(tiles.size());
      assertThat(tiles)
          .allMatch(t -> t.m() >= 0 && t.m() < grid[0] && t.n() >= 0 && t.n() < grid[1]);
    }
  }

  @Test
  void smallGrids() {
    assertThat(text(new BlockOrder.Row(), 2, 3)).isEqualTo("00 01 02 10 11 12");
    assertThat(text(new BlockOrder.Column(), 2, 3)).isEqualTo("00 10 01 11 02 12");
    assertThat(text(new BlockOrder.Serpentine(), 2, 3)).isEqualTo("00 01 02 12 11 10");
    assertThat(text(new BlockOrder.Grouped(2), 3, 2)).isEqualTo("00 10 01 11 20 21");
    assertThat(text(new BlockOrder.Morton(), 2, 4)).isEqualTo("00 01 10 11 02 03 12 13");
    assertThat(text(new BlockOrder.Nested(2), 3, 3)).isEqualTo("00 01 10 11 02 12 20 21 22");
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 32})
  void aHilbertCurveMovesToANeighbour(int side) {
    List<Tile> tiles = new BlockOrder.Hilbert().tiles(side, side);
    for (int i = 1; i < tiles.size(); i++) {
      Tile a = tiles.get(i - 1);
      Tile b = tiles.get(i);
      assertThat(Math.abs(a.m() - b.m()) + Math.abs(a.n() - b.n())).as("step %d", i).isEqualTo(1);
    }
  }

  @Test
  void explicitListsAreChecked() {
    BlockOrder order = BlockOrder.parse("explicit:1,0;0,0");
    assertThat(order.tiles(2, 1)).containsExactly(new Tile(1, 0), new Tile(0, 0));
    assertThat(order.text()).isEqualTo("explicit:1,0;0,0");
    refuses(() -> order.tiles(3, 1), "2 tiles for a grid of 3 x 1");
    refuses(() -> order.tiles(1, 2), "tile (1, 0) is outside");
    refuses(() -> BlockOrder.parse("explicit:0,0;0,0").tiles(2, 1), "tile (0, 0) comes twice");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "rows",
        "row:2",
        "grouped",
        "grouped:0",
        "grouped:x",
        "nested:0",
        "explicit:1"
      })
  void otherTextIsRefused(String text) {
    refuses(() -> BlockOrder.parse(text), "order '" + text + "' is none of row, column");
  }

  private static void refuses(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(UserError.class).hasMessageContaining(message);
  }

  private static String text(BlockOrder order, int rows, int columns) {
    return String.join(
        " ", order.tiles(rows, columns).stream().map(t -> t.m() + "" + t.n()).toList());
  }

  @Test
  void aListOfOrdersMayHoldExplicitOnes() {
    String text = "row,explicit:0,0;0,1;1,1;1,0,grouped:2,explicit:0,0";
    assertThat(BlockOrder.parseAll(text).stream().map(BlockOrder::text))
        .containsExactly("row", "explicit:0,0;0,1;1,1;1,0", "grouped:2", "explicit:0,0");
  }
}
