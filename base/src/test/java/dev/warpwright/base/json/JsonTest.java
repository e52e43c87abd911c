package dev.warpwright.base.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

final class JsonTest {
  @Test
  void writesNestedValuesInOrder() {
    Json json =
        Json.object()
            .with("b", 1)
            .with("a", Json.array(List.of(1, 2), i -> Json.object().with("i", i)))
            .with("none", Json.array(List.<Integer>of(), Json::of))
            .with("empty", Json.object())
            .with("yes", true)
            .with("nothing", (String) null);
    assertThat(json.write())
        .isEqualTo(
            "{\"b\": 1, \"a\": [{\"i\": 1}, {\"i\": 2}], \"none\": [], \"empty\": {},"
                + " \"yes\": true, \"nothing\": null}");
  }

  @Test
  void escapesWhatJsonForbids() {
    assertThat(Json.of("q\" b\\ n\n r\r t\t z\0 é 𝄞").write())
        .isEqualTo("\"q\\\" b\\\\ n\\n r\\r t\\t z\\u0000 é 𝄞\"");
    assertThat(Json.of("\ud834 \udd1e").write()).isEqualTo("\"\\ud834 \\udd1e\"");
  }

  @Test
  void keepsEveryDigitAndHasNoInfinity() {
    assertThat(Json.of(0.1 + 0.2).write()).isEqualTo("0.30000000000000004");
    assertThat(Json.of(1e300).write()).isEqualTo("1.0E300");
    assertThat(Json.of(Double.NaN).write()).isEqualTo("null");
    assertThat(Json.of(Double.NEGATIVE_INFINITY).write()).isEqualTo("null");
    assertThat(Json.of(Long.MIN_VALUE).write()).isEqualTo("-9223372036854775808");
  }

  @Test
  void refusesTwoMembersOfOneName() {
    assertThatThrownBy(() -> Json.object().with("a", 1).with("a", 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("two members named 'a'");
  }
}
