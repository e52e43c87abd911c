package dev.warpwright.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.perf.RooflineBound;
import dev.warpwright.perf.predict.Prediction;
import org.junit.jupiter.api.Test;

class FigureTest {
  private static final RooflineBound LEAST = new RooflineBound(8.1, RooflineBound.By.BYTES);

  @Test
  void tellsWhatIsKnown() {
    assertThat(Figure.measured(12.34, new Prediction(9.8, LEAST)).text())
        .isEqualTo("12.3 us measured, 9.80 predicted, bound 8.10 (bytes)");
    assertThat(Figure.expected(new Prediction(123.4, LEAST)).text())
        .isEqualTo("123.4 us predicted, bound 8.10 (bytes)");
    assertThat(Figure.expected(new Prediction(Double.NaN, LEAST)).text())
        .isEqualTo("bound 8.10 us (bytes)");
    assertThat(Figure.measured(3, Prediction.NONE).text()).isEqualTo("3.00 us measured");
    assertThat(Figure.expected(Prediction.NONE).text()).isEmpty();
  }
}
