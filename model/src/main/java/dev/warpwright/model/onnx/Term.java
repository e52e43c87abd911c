package dev.warpwright.model.onnx;

import dev.warpwright.model.graph.Tensor;
import dev.warpwright.model.graph.Value;

/** What a name in an ONNX graph stands for during import. */
sealed interface Term {

  /** A value of the new graph. */
  record Computed(Value value) implements Term {}

  record Constant(Tensor tensor) implements Term {}

  /**
   * A step of a layer normalisation that is spelled out. It becomes a node only when the last step
   * is reached; any other use is refused, since the graph has no reductions of its own.
   *
   * @param of the value that is being normalised
   * @param epsilon meaningful from {@link Step#SHIFTED} on
   */
  record Statistic(Step step, Value of, double epsilon) implements Term {}

  /** The steps of a spelled-out layer normalisation, each with what it is of a row x. */
  enum Step {
    /** mean(x). */
    MEAN,
    /** x − mean(x). */
    CENTERED,
    /** (x − mean(x))². */
    SQUARED,
    /** mean((x − mean(x))²). */
    VARIANCE,
    /** variance + ε. */
    SHIFTED,
    /** √(variance + ε). */
    DEVIATION,
    /** 1 / √(variance + ε). */
    INVERSE
  }
}
