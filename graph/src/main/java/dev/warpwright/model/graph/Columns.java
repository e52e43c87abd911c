package dev.warpwright.model.graph;

import dev.warpwright.ir.type.DType;
import java.util.Arrays;
import java.util.List;

/**
 * Chosen features, in any order and any number of times: output[m, n] = input[m, source(n)].
 * Slices, permutations and repetitions of features are all this.
 */
public final class Columns implements Node {
  private final Value output;
  private final Value input;
  private final int[] sources;
  private final String name;

  /**
   * Chooses features.
   *
   * @param output has as many features as there are sources
   * @param input what features are chosen from
   * @param sources for each feature of the output the one of the input that it is
   * @param name of the node in the original file, for messages
   */
  public Columns(Value output, Value input, int[] sources, String name) {
    if (sources.length != output.features()) {
      throw new IllegalArgumentException(sources.length + " columns do not fill " + output);
    }
    for (int source : sources) {
      if (source < 0 || source >= input.features()) {
        throw new IllegalArgumentException(input + " has no feature " + source);
      }
    }
    this.output = output;
    this.input = input;
    this.sources = sources.clone();
    this.name = name;
  }

  /**
   * {@return consecutive features from {@code first} on, as many as the output has}
   *
   * @param output its features are consecutive ones of the input
   * @param input has at least {@code first + output.features()} features
   * @param first feature of the input
   * @param name of the node in the original file, for messages
   */
  public static Columns slice(Value output, Value input, int first, String name) {
    int[] sources = new int[output.features()];
    Arrays.setAll(sources, n -> first + n);
    return new Columns(output, input, sources, name);
  }

  @Override
  public Columns to(Value newOutput) {
    return new Columns(newOutput, input, sources, name);
  }

  /** {@return the product with a matrix of ones and zeros that gives the same for finite inputs} */
  public Linear asLinear() {
    int width = input.features();
    double[] ones = new double[Math.multiplyExact(sources.length, width)];
    for (int n = 0; n < sources.length; n++) {
      ones[n * width + sources[n]] = 1;
    }
    List<Long> shape = List.of((long) sources.length, (long) width);
    return new Linear(
        output, input, ConstantTensor.ofDoubles(name, DType.F32, shape, ones), null, name);
  }

  /**
   * {@return the feature of the input that a feature of the output is}
   *
   * @param column feature of the output, from 0 on
   */
  public int source(int column) {
    return sources[column];
  }

  /**
   * {@return whether the features are evenly spaced and different; the first is {@code source(0)}}
   */
  public boolean isRegular() {
    if (stride() == 0) {
      return false;
    }
    for (int n = 1; n < sources.length; n++) {
      if (sources[n] - sources[n - 1] != stride()) {
        return false;
      }
    }
    return true;
  }

  /** {@return the distance of the first two features in the input, 1 if there is only one} */
  public int stride() {
    return sources.length > 1 ? sources[1] - sources[0] : 1;
  }

  /** {@return what features are chosen from} */
  public Value input() {
    return input;
  }

  @Override
  public Value output() {
    return output;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String op() {
    return "columns";
  }

  @Override
  public List<Value> inputs() {
    return List.of(input);
  }

  @Override
  public List<ConstantTensor> constants() {
    return List.of();
  }
}
