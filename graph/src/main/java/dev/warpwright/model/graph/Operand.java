package dev.warpwright.model.graph;

/** What an elementwise operator reads. */
public sealed interface Operand {

  /** A value of the graph, with as many features as the output, or one. */
  record OfValue(Value value) implements Operand {}

  /**
   * A constant: a scalar (shape []), or one element per feature (shape [N]), the same for each row.
   */
  record OfTensor(ConstantTensor tensor) implements Operand {
    public OfTensor {
      if (tensor.rank() > 1) {
        throw new IllegalArgumentException("an operand is a scalar or [N], not " + tensor);
      }
    }

    public boolean isScalar() {
      return tensor.rank() == 0;
    }
  }
}
