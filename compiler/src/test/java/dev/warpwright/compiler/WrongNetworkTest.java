package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.sim.Verification;
import dev.warpwright.synthetic.NetworkDeviation;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Of a network rounding passes; a wrong row, column, element or a lost K step of a layer does not.
 */
class WrongNetworkTest {
  private static final int NETWORKS = 6;
  private static final int ROWS = 24;
  private static final int WIDTH = 96;

  /**
   * From so many bounds on a mistake must be found: 1, and what honest arithmetic may hide of it.
   * Networks may saturate: neighbours that are equal before any rounding cannot be told apart.
   */
  private static final double VISIBLE = 2;

  @ParameterizedTest
  @EnumSource(names = {"F32", "TF32", "F16", "BF16"})
  void roundingPassesAndWrongDoesNot(Precision precision) {
    long first = Long.getLong("seed", new Random().nextLong());
    int visible = 0;
    for (int t = 0; t < NETWORKS; t++) {
      long seed = first + t;
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
      assertThat(error(honest, right, deviation)).as(what).isLessThan(0.6);

      int row = random.nextInt(ROWS);
      int column = random.nextInt(WIDTH);
      Graph less = without(graph, random.nextInt(WIDTH));
      double[] lost = RoundedNetwork.evaluate(less, precision, ROWS, x).getFirst();
      double[] lostExactly = GraphEvaluator.evaluate(less, ROWS, List.of(x)).getFirst();
      double[] element = honest.clone();
      element[row * WIDTH + column] += 1.0 + 2 * Math.abs(honest[row * WIDTH + column]);
      double[] elementExactly = right.clone();
      elementExactly[row * WIDTH + column] += 1.0 + 2 * Math.abs(right[row * WIDTH + column]);
      Map<String, Mistake> mistakes =
          Map.of(
              "another's row",
              new Mistake(otherRow(honest, row), otherRow(right, row)),
              "another's column",
              new Mistake(otherColumn(honest, column), otherColumn(right, column)),
              "another's element",
              new Mistake(otherElement(honest, row, column), otherElement(right, row, column)),
              "an element",
              new Mistake(element, elementExactly),
              "a lost step",
              new Mistake(lost, lostExactly));
      for (Map.Entry<String, Mistake> mistake : mistakes.entrySet()) {
        if (error(mistake.getValue().exact(), right, deviation) > VISIBLE) {
          visible++;
          assertThat(error(mistake.getValue().rounded(), right, deviation))
              .as(mistake.getKey() + " in " + what)
              .isGreaterThan(1);
        }
      }
    }
    assertThat(visible).as("of %d, seed %d", 5 * NETWORKS, first).isGreaterThan(3 * NETWORKS);
  }

  /** The greatest error of an element by its bound. */
  private static double error(double[] got, double[] right, double[] deviation) {
    return Verification.deviations(got, right, deviation, DType.F32, false).element();
  }

  /**
   * A network with a mistake.
   *
   * @param rounded what it gives
   * @param exact what it would give without any rounding
   */
  private record Mistake(double[] rounded, double[] exact) {}

  private static double[] otherRow(double[] y, int row) {
    double[] wrong = y.clone();
    System.arraycopy(y, (row + 1) % ROWS * WIDTH, wrong, row * WIDTH, WIDTH);
    return wrong;
  }

  private static double[] otherColumn(double[] y, int column) {
    double[] wrong = y.clone();
    for (int i = 0; i < ROWS; i++) {
      wrong[i * WIDTH + column] = y[i * WIDTH + (column + 1) % WIDTH];
    }
    return wrong;
  }

  private static double[] otherElement(double[] y, int row, int column) {
    double[] wrong = y.clone();
    wrong[row * WIDTH + column] = y[row * WIDTH + (column + 1) % WIDTH];
    return wrong;
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
        ConstantTensor weight =
            ConstantTensor.ofDoubles("less", DType.F64, l.weight().shape(), weights);
        nodes.set(n, new Linear(l.output(), l.input(), weight, l.bias(), l.name()));
        break;
      }
    }
    return new Graph("less", graph.inputs(), graph.outputs(), nodes);
  }
}
