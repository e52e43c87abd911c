package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.SplittableRandom;

/** Random rows for a network of one input, and what its result must be. */
final class RandomRows {
  private final Graph graph;
  private final int rows;
  private final long seed;
  private final float[] x;

  RandomRows(Graph graph, int rows, long seed) {
    this.graph = graph;
    this.rows = rows;
    this.seed = seed;
    this.x = new float[rows * graph.inputs().getFirst().features()];
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < x.length; i++) {
      // A multiple of 1/16 is one in every type.
      x[i] = Math.round(random.nextGaussian() * 16) / 16f;
    }
  }

  float[] x() {
    return x.clone();
  }

  /** The first result is right, and not exact: it was computed in the precision. */
  void check(float[] y, Precision precision) {
    double[] wide = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      wide[i] = x[i];
    }
    double[] expected = GraphEvaluator.evaluate(graph, rows, List.of(wide)).getFirst();
    assertThat(y).hasSameSizeAs(expected);
    double errors = 0;
    double squares = 0;
    for (int i = 0; i < y.length; i++) {
      errors += (y[i] - expected[i]) * (y[i] - expected[i]);
      squares += expected[i] * expected[i];
    }
    assertThat(Math.sqrt(errors / squares))
        .as("seed %d", seed)
        .isLessThan(precision.tolerance())
        .isPositive();
  }
}
