package dev.warpwright.base.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonParserTest {
  @Test
  void parsesEveryKindOfValue() {
    assertThat(JsonParser.parse("f", " {\"a\\u00e9\\n\": [-1.5e+3, true, false, null, {}, []]}\n"))
        .isEqualTo(
            new Json.Members(
                Map.of(
                    "aé\n",
                    new Json.Array(
                        List.of(
                            new Json.Number("-1.5e+3"),
                            new Json.Bool(true),
                            new Json.Bool(false),
                            new Json.Null(),
                            new Json.Members(Map.of()),
                            new Json.Array(List.of()))))));
    assertThat(JsonParser.parse("f", "\"\\\"\\\\\\/\\b\\f\\r\\t\\uD83D\\ude00\""))
        .isEqualTo(new Json.Text("\"\\/\b\f\r\t😀"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "tru",
        "nul",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "--1",
        "0x10",
        "NaN",
        "Infinity",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u12",
        "\"\n\"",
        "1 2",
        "{\"a\":1,\"a\":2}",
        "[1}",
        "// x\n1",
        "1234567890123456789012345678901234567890123"
      })
  void refuses(String text) {
    assertThatThrownBy(() -> JsonParser.parse("f", text))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("f: malformed JSON at character ")
        .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
  }
}
