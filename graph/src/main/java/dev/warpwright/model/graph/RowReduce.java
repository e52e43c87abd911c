package dev.warpwright.model.graph;

import java.util.List;
import java.util.Locale;

/**
 * A reduction of each row to one feature: output[m, 0] = kind over n of input[m, n].
 *
 * @param output has one feature
 * @param input whose rows are reduced
 * @param kind of reduction
 * @param name of the node in the original file, for messages
 */
public record RowReduce(Value output, Value input, Kind kind, String name) implements Node {
  /** What becomes of a row. */
  public enum Kind {
    /** The sum of a row. */
    SUM,
    /** The sum divided by the number of features. */
    MEAN,
    /** The largest; NaN among the others may be passed over. */
    MAX,
    /** The smallest; NaN among the others may be passed over. */
    MIN
  }

  /** Checks that the output has one feature. */
  public RowReduce {
    if (output.features() != 1) {
      throw new IllegalArgumentException("a reduction of rows gives one feature, not " + output);
    }
  }

  @Override
  public RowReduce to(Value newOutput) {
    return new RowReduce(newOutput, input, kind, name);
  }

  @Override
  public String op() {
    return "row_" + kind.name().toLowerCase(Locale.ROOT);
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
