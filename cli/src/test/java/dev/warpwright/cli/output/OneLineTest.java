package dev.warpwright.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class OneLineTest {
  @Test
  void keepsReadableText() {
    assertThat(OneLine.of("node 'größe' 𝄞 \"x\" \\n")).isEqualTo("node 'größe' 𝄞 \"x\" \\n");
  }

  @Test
  void cutsTheMiddleOut() {
    assertThat(OneLine.cut("short")).isEqualTo("short");
    String cut = OneLine.cut("begin " + "\n\ud835\udd1e".repeat(100_000) + " end");
    assertThat(cut).startsWith("begin ").endsWith(" end").contains("...").hasSizeLessThan(500);
    assertThat(cut).isEqualTo(OneLine.of(cut));
  }

  @Test
  void escapesLineEndsAndTerminalCodes() {
    assertThat(OneLine.of("a\nb\r\tc\u001b[31m\u2028\u202e\u0085"))
        .isEqualTo("a\\nb\\r\\tc\\u001b[31m\\u2028\\u202e\\u0085");
  }
}
