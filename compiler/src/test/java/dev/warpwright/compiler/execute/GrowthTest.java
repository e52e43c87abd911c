package dev.warpwright.compiler.execute;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * A service calls for weeks. A few thousand calls and some dozens of models here, a million and ten
 * thousand by {@code bench/calls.sh growth}.
 */
@Isolated("looks at the memory of the process")
class GrowthTest {
  private final Growth growth =
      new Growth(Path.of("..", "models", "digits-relu-128-64", "model.onnx"));

  /**
   * What 5000 calls may leave: less than an array or a workspace each, by far. What the JVM and
   * tests before this one do meanwhile is left once; what calls leave is left every time.
   */
  @Test
  void callsLeaveNothing() {
    growth.calls(300);
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3 && least >= 80; i++) {
      Growth.Memory before = Growth.memory();
      growth.calls(5_000);
      least = Math.min(least, Growth.memory().heap() - before.heap());
    }
    if (least >= 80) {
      // What is left whatever is called is not left four times by four times as many.
      Growth.Memory before = Growth.memory();
      growth.calls(20_000);
      least = (Growth.memory().heap() - before.heap()) / 4;
    }
    assertThat(least).as("KiB of heap of 5000 calls").isLessThan(80);
  }

  /** A model's classes alone are more than the bound: 10 of them must be gone again. */
  @Test
  void modelsLeaveNothing() {
    growth.models(3);
    Growth.Memory before = Growth.memory();
    growth.models(10);
    Growth.Memory after = Growth.memory();
    assertThat(after.loaded() - before.loaded()).as("classes").isLessThan(10);
    assertThat(after.heap() - before.heap()).as("KiB of heap").isLessThan(10 * 40);
  }
}
