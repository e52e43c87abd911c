package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.DType;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.model.function.NetworkDeviation;
import dev.warpwright.model.function.Precision;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Tensor;
import dev.warpwright.sim.Verification;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Of a network rounding passes; a wrong row, column, element or a lost K step of a layer does not.
 */
class WrongNetworkTest {
  private static final int ROWS = 24;
  private static final int WIDTH = 96;

  @ParameterizedTest
  @EnumSource
  void roundingPassesAndWrongDoesNot(Precision precision) {
    for (int t = 0; t < 6; t++) {
      long seed = Long.getLong("seed", new Random().nextLong());
      String what = precision + ", seed " + seed;
      Random random = new Random(seed);
      Graph graph = RandomNetworks.plain(random, 3, WIDTH);
      double[] x = new double[ROWS * WIDTH];
      for (int i = 0; i < x.length; i++) {
        x[i] = (float) random.nextGaussian();
      }
      double[] right = GraphEvaluator.evaluate(graph, ROWS, List.of(x)).getFirst();
      double[] deviation = NetworkDeviation.of(graph, precision, ROWS, List.of(x)).getFirst();
      double[] honest = RoundedNetwork.evaluate(graph, precision, ROWS, x).getFirst();
      Deviations worst = Verification.deviations(honest, right, deviation, DType.F32, false);
      assertThat(worst.element()).as(what).isLessThan(0.6);

      int row = random.nextInt(ROWS);
      int column = random.nextInt(WIDTH);
      double[] noRow = honest.clone();
      double[] otherColumn = honest.clone();
      double[] element = honest.clone();
      for (int j = 0; j < WIDTH; j++) {
        noRow[row * WIDTH + j] = honest[(row + 1) % ROWS * WIDTH + j];
      }
      for (int i = 0; i < ROWS; i++) {
        otherColumn[i * WIDTH + column] = honest[i * WIDTH + (column + 1) % WIDTH];
      }
      element[row * WIDTH + column] += 1.0 + 2 * Math.abs(honest[row * WIDTH + column]);
      double[] lost =
          RoundedNetwork.evaluate(without(graph, random.nextInt(WIDTH)), precision, ROWS, x)
              .getFirst();
      for (double[] wrong : List.of(noRow, otherColumn, element, lost)) {
        // Random networks may saturate: what changes nothing is not wrong.
        if (greatest(wrong, honest)
            < 0.2 * Math.max(1e-3, greatest(honest, new double[x.length]))) {
          continue;
        }
        assertThat(Verification.deviations(wrong, right, deviation, DType.F32, false).honest())
            .as(what)
            .isFalse();
      }
    }
  }

  private static double greatest(double[] a, double[] b) {
    double greatest = 0;
    for (int i = 0; i < a.length; i++) {
      greatest = Math.max(greatest, Math.abs(a[i] - b[i]));
    }
    return greatest;
  }

  /** The first layer without a step of its sums. */
  private static Graph without(Graph graph, int k) {
    List<Node> nodes = new ArrayList<>(graph.nodes());
    for (int n = 0; n < nodes.size(); n++) {
      if (nodes.get(n) instanceof Linear l) {
        double[] weights = l.weight().toDoubles().clone();
        for (int j = 0; j < WIDTH; j++) {
          weights[j * WIDTH + k] = 0;
        }
        Tensor weight = Tensor.ofDoubles("less", DType.F64, l.weight().shape(), weights);
        nodes.set(n, new Linear(l.output(), l.input(), weight, l.bias(), l.name()));
        break;
      }
    }
    return new Graph("less", graph.inputs(), graph.outputs(), nodes);
  }
}
