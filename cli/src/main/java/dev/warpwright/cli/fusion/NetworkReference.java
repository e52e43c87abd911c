package dev.warpwright.cli.fusion;

import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.measure.network.NetworkData;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Value;
import dev.warpwright.synthetic.NetworkDeviation;
import dev.warpwright.workload.Precision;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Inputs of a network and what it makes of them in double precision, for some distinct rows. */
final class NetworkReference {
  /** Multiply-adds that are computed on the CPU, not counting the deviations' samples. */
  private static final double WORK = 100e6;

  private static final int FEWEST = 64;

  /** Multiply-adds of a row from which on a few rows have to do. */
  private static final double WIDE = 20e6;

  private static final int FEWEST_OF_WIDE = 16;
  private static final int MOST = 2048;

  private static @Nullable SoftReference<Values> last;

  private NetworkReference() {}

  /**
   * As many rows as a moment is enough for. Of one network and as many distinct rows as the last
   * time it is not computed again.
   */
  static NetworkData of(NetworkTask task) {
    Graph graph = task.graph();
    double work = 1;
    for (var node : graph.needed()) {
      if (node instanceof Linear linear) {
        work += (double) linear.input().features() * linear.output().features();
      }
    }
    int fewest = work > WIDE ? FEWEST_OF_WIDE : FEWEST;
    int distinct = Math.min(task.rows(), (int) Math.clamp(WORK / work, fewest, MOST));
    Values values = values(task, distinct);
    return new NetworkData(
        task.rows(),
        distinct,
        values.inputs(),
        values.expected(),
        values.deviations(),
        task.precision().tolerance(),
        task.seed());
  }

  private static synchronized Values values(NetworkTask task, int distinct) {
    Values known = last == null ? null : last.get();
    if (known == null || !known.isOf(task, distinct)) {
      known = Values.of(task, distinct);
      last = new SoftReference<>(known);
    }
    return known;
  }

  /** Of one network; the deviations are of one precision. */
  private record Values(
      Graph graph,
      Precision precision,
      long seed,
      int distinct,
      List<float[]> inputs,
      List<double[]> expected,
      List<double[]> deviations) {
    boolean isOf(NetworkTask task, int rows) {
      return task.graph() == graph
          && task.precision() == precision
          && task.seed() == seed
          && rows == distinct;
    }

    static Values of(NetworkTask task, int distinct) {
      Graph graph = task.graph();
      SplittableRandom random = new SplittableRandom(task.seed() + 1);
      List<float[]> inputs = new ArrayList<>();
      List<double[]> wide = new ArrayList<>();
      for (Value input : graph.inputs()) {
        float[] x = new float[Math.multiplyExact(distinct, input.features())];
        double[] same = new double[x.length];
        for (int i = 0; i < x.length; i++) {
          x[i] = held(random.nextGaussian(), task.precision().operand());
          same[i] = x[i];
        }
        inputs.add(x);
        wide.add(same);
      }
      List<double[]> expected = GraphEvaluator.evaluate(graph, distinct, wide);
      return new Values(
          graph,
          task.precision(),
          task.seed(),
          distinct,
          inputs,
          expected,
          NetworkDeviation.of(graph, task.precision(), distinct, wide, expected));
    }
  }

  /** The nearest number of a type. */
  private static float held(double x, DType type) {
    return (float) Numerics.round(type, x);
  }
}
