package dev.warpwright.perf.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
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
    assertThat(OrderText.parse(" t1=2\nOrder 0 :\n[ (0,1,0) ,\n (3,0,1), ]\nOrder 1: ["))
        .isEqualTo(order);
    assertThat(OrderText.parse("t1 = 1 Order 0: []").items()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[(0, 0, 0)]",
        "t1 = 2 Order 0: [(0, 0)]",
        "t1 = 2 Order 0: [(0, 0, 2)]",
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
  void hugeTextIsRefused() {
    String huge = "t1 = 2 Order 0: [" + "(0, 0, 0), ".repeat(500_000) + "]";
    assertThatThrownBy(() -> OrderText.parse(huge))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("too long");
  }
}
