package dev.warpwright.perf.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OrderTextTest {
  @Test
  void readsWhatItWrites() {
    var order = new OrderText(2, List.of(new WorkItem(0, 1, 0), new WorkItem(1, 0, 3)));
    assertThat(order.text()).isEqualTo("t1 = 2 Order 0: [(0, 1, 0), (3, 0, 1)]");
    assertThat(OrderText.parse(order.text())).isEqualTo(order);
    assertThat(OrderText.parse(" t1=2\nOrder 0 :\n[ (0,1,0) ,\n (3,0,1), ]\nOrder 1: []"))
        .isEqualTo(order);
    assertThat(OrderText.parse("t1 = 1 Order 0: []").items()).isEmpty();
  }

  /** A part is named with each tile of the second matmul; their number holds for one order. */
  @Test
  void partsAreReadAndWritten() {
    var problem = new TileProblem(1, 2, 1, 1, true, TileProblem.Sizes.ONE, 9, 1, 2);
    List<WorkItem> items =
        List.of(
            new WorkItem(0, 0, 1),
            new WorkItem(1, 0, 0, 1),
            new WorkItem(0, 0, 0),
            new WorkItem(1, 0, 0, 0));
    problem.check(items, true);
    OrderText order = OrderText.of(problem, items);
    assertThat(order.text())
        .isEqualTo("t1 = 1, parts = 2 Order 0: [(1, 0, 0), (0, 0, 1, 1), (0, 0, 0), (0, 0, 1, 0)]");
    assertThat(OrderText.parse(order.text())).isEqualTo(order);
    List<OrderText> two = OrderText.parseAll(order.text() + "\nOrder 1: [(0, 0, 0)]");
    assertThat(two).extracting(OrderText::parts).containsExactly(2, 1);
    assertThatThrownBy(() -> problem.inParts(1).check(order.items(), true))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("tile (0, 0) of matmul 1, number 1 of the order, has K in 1 part");
  }

  @Test
  void readsWhatASearchPrints() {
    String printed =
        """
        10 loads, optimal: proven to be the least, after 25 states
            0    1

            2    3
        t1 = 1 Order 0: [(0, 0, 0), (1, 0, 0)]
        """;
    OrderText order = OrderText.parseAll(printed).getFirst();
    assertThat(order.items()).containsExactly(new WorkItem(0, 0, 0), new WorkItem(0, 0, 1));
    assertThat(order.line()).isEqualTo(5);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[(0, 0, 0)]",
        "10 loads, optimal",
        "t1 = 2 Order 0: [(0, 0), (1, 0, 0)]",
        "t1 = 2 Order 0: [(0, 0, 0)] junk",
        "t1 = 2 Order 0: [(0, 0, 0)]]",
        "t1 = 0 Order 0: [(0, 0, 0)]",
        "outer_width = 2, Order 0: [(0, 0, 0)] t1 = 2",
        "t1 = 2 Order 0: [(0, 0, 2)]",
        "t1 = 2 Order 0: [(0, 0, 1, 2, 3)]",
        "t1 = 2, parts = 0 Order 0: [(0, 0, 1, 0)]",
        "t1 = 2 Order 0: [(0, 0, 0)",
        "t1 = 2 Order 0: [(0, 0, 0) (1, 0, 0)]",
        "t1 = 2 Order 0: [(-1, 0, 0)]",
        "t1 = 2 Order 0: [(99999999, 0, 0)]",
        "t1 = 2 Order 0: [<script>]"
      })
  void otherTextIsRefused(String text) {
    assertThatThrownBy(() -> OrderText.parse(text))
        .isInstanceOf(UserError.class)
        .hasMessageNotContaining("<");
  }

  @Test
  void whatIsWrongIsNamedWithItsLine() {
    assertThatThrownBy(() -> OrderText.parse("t1 = 1\nOrder 0: [(0, 0, 0)]\n\nmore of it\n"))
        .hasMessage("line 4: behind an order only another one may follow");
    assertThatThrownBy(() -> OrderText.parse("# made by hand\nt = 1 Order: [(0, 0),\n(1, x)]"))
        .hasMessageStartingWith("line 3: tile 1: expected");
  }

  @Test
  void filesOfTheAuthorsAreRead() {
    List<OrderText> orders =
        OrderText.parseAll(
            """
            # found by search
            outer_width = 2, inner_width = 1
            t = 1 Order: [(0, 0), (1, 0), (1, 1), (0, 1)]

            outer_width = 1, inner_width = 2, t = 2 Order: [(0, 0), (0, 1), (1, 0), (1, 1)]
            Order 7: [(1, 0), (0, 0)]
            """);
    assertThat(orders)
        .containsExactly(
            new OrderText(1, 1, items(0, 0, 0, 1, 1, 1, 1, 0), 2),
            new OrderText(2, 1, items(0, 0, 1, 0, 0, 1, 1, 1), 5),
            new OrderText(2, 1, items(0, 1, 0, 0), 6));
    assertThat(OrderText.parse("t1 = 3 Order: [(0, 0, 0), (0, 0, 1)]").items())
        .containsExactly(new WorkItem(0, 0, 0), new WorkItem(1, 0, 0));
  }

  private static List<WorkItem> items(int... rowsAndColumns) {
    List<WorkItem> items = new ArrayList<>();
    for (int i = 0; i < rowsAndColumns.length; i += 2) {
      items.add(new WorkItem(0, rowsAndColumns[i], rowsAndColumns[i + 1]));
    }
    return items;
  }

  @Test
  void hugeTextIsRefused() {
    String huge = "t1 = 2 Order 0: [" + "(0, 0, 0), ".repeat(500_000) + "]";
    assertThatThrownBy(() -> OrderText.parse(huge))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("too long");
  }
}
