package dev.warpwright.synthetic;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.arch.NetworkAssembler;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.LayerNorm;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Value;
import dev.warpwright.model.weights.Weights;
import dev.warpwright.workload.Activation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * A fully connected network with random weights, scaled so that what flows through it neither
 * vanishes nor explodes however deep it is: each layer's sums have a variance of 1 if what it reads
 * is what the activation makes of normally distributed numbers (He's rule, for every activation).
 */
public final class RandomMlp {
  private static final double BIAS = 0.1;

  /** PyTorch's. */
  private static final double EPSILON = 1e-5;

  /** Points between -8 and 8 at which an activation's mean square is looked at. */
  private static final int POINTS = 1601;

  /** Of a layer: they are made in one array. */
  private static final long MOST_WEIGHTS = Integer.MAX_VALUE - 8;

  private RandomMlp() {}

  /**
   * Makes one.
   *
   * @param mlp whose activations stand between the layers; the last has none
   * @param bias whether layers add one
   * @param dtype of the weights
   * @param seed equal seeds give equal weights
   * @return its graph, with inputs of any number of rows
   * @throws UserError if there is no activation of a name, or it has weights of its own
   */
  public static Graph of(Architecture.Mlp mlp, boolean bias, DType dtype, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<ConstantTensor> tensors = new ArrayList<>();
    double meanSquare = 1;
    check(mlp, dtype);
    for (int i = 1; i < mlp.widths().size(); i++) {
      long outputs = mlp.widths().get(i);
      long inputs = mlp.widths().get(i - 1);
      double scale = 1 / Math.sqrt(inputs * meanSquare);
      tensors.add(random(i + ".weight", dtype, List.of(outputs, inputs), scale, random));
      if (bias) {
        tensors.add(random(i + ".bias", dtype, List.of(outputs), BIAS, random));
      }
      if (i < mlp.widths().size() - 1) {
        meanSquare = meanSquare(mlp.activations().get(i - 1));
      }
    }
    return NetworkAssembler.assemble(Weights.of("random weights", tensors), mlp);
  }

  /**
   * The same network with a layer norm behind each layer but the last.
   *
   * @param mlp of {@link #of}
   */
  public static Graph normed(Graph mlp) {
    List<Node> nodes = new ArrayList<>();
    for (Node node : mlp.nodes()) {
      if (node instanceof Linear linear && !mlp.outputs().contains(linear.output())) {
        Value to = linear.output();
        Value sums = new Value(to.name() + "_sums", to.dtype(), to.features(), to.leading());
        nodes.add(linear.to(sums));
        nodes.add(new LayerNorm(to, sums, null, null, EPSILON, to.name() + "_norm"));
      } else {
        nodes.add(node);
      }
    }
    return new Graph(mlp.name(), mlp.inputs(), mlp.outputs(), nodes);
  }

  /** Widths are int, so that their products are long. */
  private static void check(Architecture.Mlp mlp, DType dtype) {
    double all = 0;
    double largest = 0;
    for (int i = 1; i < mlp.widths().size(); i++) {
      long weights = (long) mlp.widths().get(i) * mlp.widths().get(i - 1);
      if (weights > MOST_WEIGHTS) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "widths=%d,%d: a layer of random weights has at most %d of them, not %d",
                mlp.widths().get(i - 1),
                mlp.widths().get(i),
                MOST_WEIGHTS,
                weights));
      }
      all += (double) dtype.bytes() * weights;
      largest = Math.max(largest, (double) Double.BYTES * weights);
    }
    if (all + largest > Runtime.getRuntime().maxMemory()) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "widths=…: random weights of this network take %.0f MB while they are made, Java has %d;"
                  + " WARPWRIGHT_JAVA_OPTS=-Xmx%.0fg gives it more, where there is more",
              (all + largest) / 1e6,
              Runtime.getRuntime().maxMemory() / 1_000_000,
              Math.ceil(1.5 * (all + largest) / (1 << 30))));
    }
  }

  private static ConstantTensor random(
      String name, DType dtype, List<Long> shape, double scale, SplittableRandom random) {
    double[] values = new double[Math.toIntExact(shape.stream().reduce(1L, (a, b) -> a * b))];
    for (int i = 0; i < values.length; i++) {
      values[i] = scale * random.nextGaussian();
    }
    return ConstantTensor.ofDoubles(name, dtype, shape, values);
  }

  /**
   * Refuses a name that is no activation's.
   *
   * @param name as in {@code --arch}
   * @throws UserError if there is none of that name, or it has weights of its own
   */
  public static void checkActivation(String name) {
    meanSquare(name);
  }

  /** Of what an activation makes of normally distributed numbers. */
  private static double meanSquare(String name) {
    if (!Architecture.activations().contains(name)) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "act=%s: it is one of %s",
              name,
              String.join(", ", Architecture.activations())));
    }
    Activation activation =
        Arrays.stream(Activation.values())
            .filter(each -> each != Activation.NONE && each.text().equals(name))
            .findFirst()
            .orElse(null);
    if (activation == null) {
      // Of the size of a ReLU's.
      return 0.5;
    }
    double sum = 0;
    double weights = 0;
    for (int i = 0; i < POINTS; i++) {
      double x = 16.0 * i / (POINTS - 1) - 8;
      double weight = Math.exp(-x * x / 2);
      double y = activation.at(x);
      sum += weight * y * y;
      weights += weight;
    }
    return sum / weights;
  }
}
