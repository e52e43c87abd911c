package dev.warpwright.model.graph;

import java.util.List;

/** One operation of a graph. It computes one value from values and constants. */
public sealed interface Node
    permits Linear, Elementwise, LayerNorm, RowReduce, Concat, Columns, Attend {

  /** {@return the value that this node computes} */
  Value output();

  /**
   * {@return the same operation with another value as its result}
   *
   * @param output with as many features as this one's
   */
  Node to(Value output);

  /** {@return the name of the node in the original file, for messages; may be anything} */
  String name();

  /** {@return the kind of operation, for example {@code linear} or {@code gelu}} */
  String op();

  /** {@return the values that this node reads, in order; one that is read twice appears twice} */
  List<Value> inputs();

  /** {@return the constants that this node reads, in order} */
  List<ConstantTensor> constants();
}
