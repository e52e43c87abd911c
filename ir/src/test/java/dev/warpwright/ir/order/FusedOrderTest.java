package dev.warpwright.ir.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Attrs;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FusedOrderTest {
  private static final FusedOrder.Extents GRIDS = new FusedOrder.Extents(2, 2, 2, 1);

  @Test
  void tilesOfBothGridsMayTakeTurns() {
    FusedOrder order = FusedOrder.parse("explicit:1,1,0;1,0,0;1,0,1;0,0,0;0,1,0;0,0,1");
    int second = Integer.MIN_VALUE;
    assertThat(order.table(GRIDS, WaitPolicy.ROW))
        .containsExactly(1 << 16 | 1, 1 << 16, second | 1 << 16, 0, 1, second);
    assertThat(order.text()).isEqualTo("explicit:1,1,0;1,0,0;1,0,1;0,0,0;0,1,0;0,0,1");
    assertThat(FusedOrder.parse(order.text())).isEqualTo(order);
  }

  /** Whoever waits only for what stands before cannot wait for ever. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "explicit:1,1,0;1,0,1;1,0,0;0,0,0;0,1,0;0,0,1 | comes before its row",
        "explicit:1,1,0;1,0,0;1,0,1;0,0,0;0,0,0;0,0,1 | comes twice",
        "explicit:1,1,0;1,0,0;1,0,1;0,0,0;0,2,0;0,0,1 | is outside",
        "explicit:1,1,0;1,0,0;1,0,1;0,0,0;0,1,0;0,1,1 | is outside",
        "explicit:1,1,0;1,0,0;1,0,1;0,0,0;0,1,0 | 5 of 6 tiles"
      })
  void otherListsAreRefused(String text, String message) {
    FusedOrder order = FusedOrder.parse(text);
    assertThatThrownBy(() -> order.table(GRIDS, WaitPolicy.ROW))
        .isInstanceOf(UserError.class)
        .hasMessageContaining(message);
    assertThatThrownBy(() -> order.table(new FusedOrder.Extents(2, 2, 1, 1), WaitPolicy.TILE))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("as many rows");
  }

  /** What is waited for stands before, also the other rows of a batch. */
  @ParameterizedTest
  @CsvSource({
    "explicit:0;0, tile, ",
    "explicit:0;0, row, ",
    "explicit:0;0, rows:2, 'comes before row 1 of the first one is done'",
    "explicit:0;0, grid, 'comes before row 1 of the first one is done'",
    "rows, row, ",
    "rows, tile, ",
    "rows, rows:2, 'would wait for rows behind it'",
    "rows, grid, 'would wait for rows behind it'",
    "sequence/row/row, rows:2, ",
    "sequence/row/row, grid, "
  })
  void ordersSuitWhatIsWaitedFor(String text, String waits, String message) {
    String each = "0,0,0;0,1,0;0,0,1;1,0,0;1,1,0;1,0,1";
    FusedOrder order = FusedOrder.parse(text.startsWith("explicit") ? "explicit:" + each : text);
    WaitPolicy policy = WaitPolicy.parse(waits);
    assertThat(policy.text()).isEqualTo(waits);
    if (message == null) {
      assertThat(order.table(GRIDS, policy)).hasSize(6);
    } else {
      assertThatThrownBy(() -> order.table(GRIDS, policy))
          .isInstanceOf(UserError.class)
          .hasMessageContaining(message);
    }
  }

  /** Columns of the second grid count on from part to part; a part waits for its own columns. */
  @Test
  void partsAreItemsOfTheirOwn() {
    var parts = new FusedOrder.Extents(1, 3, 1, 2, 2);
    int second = Integer.MIN_VALUE;
    assertThat(parts.count()).isEqualTo(7);
    assertThat(List.of(parts.partBegin(0), parts.partBegin(1), parts.partBegin(2)))
        .containsExactly(0, 1, 3);
    assertThat(FusedOrder.parse("rows").table(parts, WaitPolicy.ROW))
        .containsExactly(0, second, second | 1, 1, 2, second | 2, second | 3);
    assertThat(FusedOrder.parse("sequence/row/row").table(parts, WaitPolicy.GRID))
        .containsExactly(0, 1, 2, second, second | 1, second | 2, second | 3);
    String listed = "explicit:0,1,0;0,2,0;0,3,1;0,2,1;0,0,0;0,1,1;0,0,1";
    assertThat(FusedOrder.parse(listed).table(parts, WaitPolicy.TILE)).hasSize(7);
    assertThatThrownBy(
            () -> FusedOrder.parse("explicit:0,0,0;0,1,0;0,2,1").table(parts, WaitPolicy.ROW))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("comes before part 1 of its row of the first one is done");
    var rows = new FusedOrder.Extents(2, 2, 2, 1, 2);
    assertThatThrownBy(
            () -> FusedOrder.parse("explicit:0,0,0;0,0,1").table(rows, WaitPolicy.rows(2)))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("comes before part 0 of row 1 of the first one is done");
    assertThat(FusedOrder.Extents.of(parts.in(Attrs.NONE))).isEqualTo(parts);
    assertThatThrownBy(() -> new FusedOrder.Extents(1, 2, 1, 2, 3))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("3 parts of 2 columns");
    assertThatThrownBy(
            () -> FusedOrder.Extents.of(GRIDS.in(Attrs.NONE).with("division", "stream:1")))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("are divided into parts");
  }

  /** A kernel's attribute is what a user wrote. */
  @Test
  void aWaitThatIsNoneIsTheUsers() {
    Attrs attrs = GRIDS.in(Attrs.NONE).with(FusedOrder.ORDER, "rows");
    assertThat(FusedOrder.table(attrs)).hasSize(6);
    assertThatThrownBy(() -> FusedOrder.table(attrs.with(WaitPolicy.WAIT, "rows:2")))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("would wait for rows behind it");
    assertThatThrownBy(() -> FusedOrder.table(attrs.with(WaitPolicy.WAIT, "tea")))
        .isInstanceOf(UserError.class)
        .hasMessage("wait=tea: a tile waits for 'tile', 'row', 'rows:N' or 'grid'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rows", "rows:0", "rows:1 ", "rows:100000", "Row", ""})
  void whatNobodyWaitsFor(String text) {
    assertThatThrownBy(() -> WaitPolicy.parse(text))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("'rows:N'");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "explicit:",
        "explicit:1,1",
        "explicit:1,1,2",
        "explicit:1,1,0;",
        "explicit:32768,0,0",
        "zig"
      })
  void otherTextIsRefused(String text) {
    assertThatThrownBy(() -> FusedOrder.parse(text)).isInstanceOf(UserError.class);
  }

  @Test
  void anEntryTellsItsTile() {
    assertThat(new FusedOrder.Explicit(List.of(FusedOrder.Explicit.entry(1, 300, 40_000))).text())
        .isEqualTo("explicit:300,40000,1");
  }
}
