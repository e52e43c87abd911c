package dev.warpwright.model.graph;

import java.util.List;

/** One operation of a graph. It computes one value from values and constants. */
public sealed interface Node
    permits Linear, Elementwise, LayerNorm, RowReduce, Concat, Columns, Attend {

  /** The value that this node computes. */
  Value output();

  /** The same operation with another value as its result. */
  Node to(Value output);

  /** The name of the node in the original file, for messages; may be anything. */
  String name();

  /** The kind of operation, for example {@code linear} or {@code gelu}. */
  String op();

  /** The values that this node reads, in order; one that is read twice appears twice. */
  List<Value> inputs();

  /** The constants that this node reads, in order. */
  List<ConstantTensor> constants();
}
