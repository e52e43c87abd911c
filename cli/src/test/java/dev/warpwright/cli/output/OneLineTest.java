package dev.warpwright.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class OneLineTest {
  @Test
  void keepsReadableText() {
    assertThat(OneLine.of("node 'größe' 𝄞 \"x\" \\n")).isEqualTo("node 'größe' 𝄞 \"x\" \\n");
  }

  @Test
  void escapesLineEndsAndTerminalCodes() {
    assertThat(OneLine.of("a\nb\r\tc\u001b[31m\u2028\u202e\u0085"))
        .isEqualTo("a\\nb\\r\\tc\\u001b[31m\\u2028\\u202e\\u0085");
  }
}
