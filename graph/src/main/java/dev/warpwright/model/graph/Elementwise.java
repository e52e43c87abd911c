package dev.warpwright.model.graph;

import dev.warpwright.workload.Pointwise;
import java.util.List;

/**
 * An elementwise operator: output[m, n] = kind(operand₀[m, n], …). At least one operand is a value.
 *
 * @param output has the features of the widest operand
 * @param kind what is computed
 * @param operands as many as the operator takes; a value of one feature stands for that feature in
 *     each column
 * @param name of the node in the original file, for messages
 */
public record Elementwise(Value output, Pointwise kind, List<Operand> operands, String name)
    implements Node {
  /** Checks that there are as many operands as the operator takes, and that their features fit. */
  public Elementwise {
    operands = List.copyOf(operands);
    if (operands.size() != kind.arity()) {
      throw new IllegalArgumentException(kind + " takes " + kind.arity() + " operands");
    }
    boolean reads = false;
    for (Operand operand : operands) {
      boolean fits =
          switch (operand) {
            case Operand.OfValue(Value value) -> {
              reads = true;
              yield value.features() == output.features() || value.features() == 1;
            }
            case Operand.OfTensor constant ->
                constant.isScalar() || constant.tensor().count() == output.features();
          };
      if (!fits) {
        throw new IllegalArgumentException("operand " + operand + " does not fit " + output);
      }
    }
    if (!reads) {
      throw new IllegalArgumentException("an elementwise operator must read a value");
    }
  }

  @Override
  public Elementwise to(Value newOutput) {
    return new Elementwise(newOutput, kind, operands, name);
  }

  @Override
  public String op() {
    return kind.text();
  }

  @Override
  public List<Value> inputs() {
    return operands.stream()
        .filter(Operand.OfValue.class::isInstance)
        .map(operand -> ((Operand.OfValue) operand).value())
        .toList();
  }

  @Override
  public List<ConstantTensor> constants() {
    return operands.stream()
        .filter(Operand.OfTensor.class::isInstance)
        .map(operand -> ((Operand.OfTensor) operand).tensor())
        .toList();
  }
}
