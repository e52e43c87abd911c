package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.sim.Verification;
import dev.warpwright.synthetic.NetworkDeviation;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Networks' results on random inputs, beside double precision. */
final class HonestResults {
  private HonestResults() {}

  /**
   * Inputs of a network's only input.
   *
   * @param scale their standard deviation
   */
  static float[] inputs(Graph graph, int rows, float scale) {
    Random random = new Random(11);
    float[] x = new float[rows * graph.inputs().getFirst().features()];
    for (int i = 0; i < x.length; i++) {
      x[i] = scale * (float) random.nextGaussian();
    }
    return x;
  }

  /**
   * Fails unless each element is within what rounding allows.
   *
   * @param way names it if it is not
   * @param result type of the results
   */
  static void assertRight(
      String way, Graph graph, Precision precision, DType result, int rows, float[] x, float[] y) {
    List<double[]> wide = List.of(IntStream.range(0, x.length).mapToDouble(i -> x[i]).toArray());
    Deviations deviations =
        Verification.deviations(
            IntStream.range(0, y.length).mapToDouble(i -> y[i]).toArray(),
            GraphEvaluator.evaluate(graph, rows, wide).getFirst(),
            NetworkDeviation.of(graph, precision, rows, wide).getFirst(),
            result,
            false);
    assertThat(deviations.honest()).as("%s: %s", way, deviations).isTrue();
  }
}
