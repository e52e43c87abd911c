package dev.warpwright.cli.fusion;

import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.measure.network.NetworkData;
import dev.warpwright.model.function.NetworkDeviation;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Inputs of a network and what it makes of them in double precision, for some distinct rows. */
final class NetworkReference {
  /** Multiply-adds that are computed on the CPU, not counting the deviations' samples. */
  private static final double WORK = 100e6;

  private static final int FEWEST = 64;
  private static final int MOST = 2048;

  private NetworkReference() {}

  /** As many rows as a moment is enough for. */
  static NetworkData of(NetworkTask task) {
    Graph graph = task.graph();
    double work = 1;
    for (var node : graph.needed()) {
      if (node instanceof Linear linear) {
        work += (double) linear.input().features() * linear.output().features();
      }
    }
    int distinct = Math.min(task.rows(), (int) Math.clamp(WORK / work, FEWEST, MOST));
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
    return new NetworkData(
        task.rows(),
        distinct,
        inputs,
        GraphEvaluator.evaluate(graph, distinct, wide),
        NetworkDeviation.of(graph, task.precision(), distinct, wide),
        task.precision().tolerance(),
        task.seed());
  }

  /** The nearest number of a type. */
  private static float held(double x, DType type) {
    return (float) Numerics.round(type, x);
  }
}
