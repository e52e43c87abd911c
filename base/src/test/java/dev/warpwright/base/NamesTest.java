package dev.warpwright.base;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NamesTest {

  @Test
  void escapesWhatWouldBreakALine() {
    assertThat(Names.quote("a\n\r\tb'\"\\")).isEqualTo("'a\\n\\r\\tb\\'\\\"\\\\'");
    assertThat(Names.quote("\u001B[31m\u0000\u2028\u202E"))
        .isEqualTo("'\\u{1B}[31m\\u{0}\\u{2028}\\u{202E}'");
    assertThat(Names.quote("\uD800x")).isEqualTo("'\\u{D800}x'");
    assertThat(Names.quote("\u00FCber \uD83D\uDE00")).isEqualTo("'\u00FCber \uD83D\uDE00'");
  }

  @Test
  void showsPathsAsTheyAreTyped() {
    assertThat(Names.printable("/it's \"here\"\n")).isEqualTo("/it's \"here\"\\n");
  }

  @ParameterizedTest
  @CsvSource({"200, 200", "201, 201", "100000, 201"})
  void cutsLongNames(int length, int shown) {
    assertThat(Names.printable("x".repeat(length))).hasSize(shown);
  }
}
