package dev.warpwright.model.graph;

/** What an elementwise operator reads. */
public sealed interface Operand {

  /**
   * A value of the graph, with as many features as the output, or one.
   *
   * @param value computed by a node, or an input of the graph
   */
  record OfValue(Value value) implements Operand {}

  /**
   * A constant: a scalar (shape []), or one element per feature (shape [N]), the same for each row.
   *
   * @param tensor of rank 0 or 1
   */
  record OfTensor(ConstantTensor tensor) implements Operand {
    /** Checks the rank. */
    public OfTensor {
      if (tensor.rank() > 1) {
        throw new IllegalArgumentException("an operand is a scalar or [N], not " + tensor);
      }
    }

    /** {@return whether the constant is one number, the same for all features} */
    public boolean isScalar() {
      return tensor.rank() == 0;
    }
  }
}
