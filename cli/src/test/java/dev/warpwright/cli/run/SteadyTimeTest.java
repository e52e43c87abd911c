package dev.warpwright.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SteadyTimeTest {
  private static boolean reached(double... micros) {
    SteadyTime steady = new SteadyTime();
    for (double each : micros) {
      steady.add(each);
    }
    return steady.reached();
  }

  @Test
  void fourRoundsAgree() {
    assertThat(reached(900, 13.1, 13.3, 12.0, 14.3)).isTrue();
  }

  @Test
  void roundsOfAJvmThatCompilesDoNot() {
    assertThat(reached(13.1, 13.3, 97902, 13.0)).isFalse();
    assertThat(reached(900, 13, 13, 13)).isFalse();
  }

  @Test
  void aFewSayNothing() {
    assertThat(reached()).isFalse();
    assertThat(reached(13, 13, 13)).isFalse();
  }
}
