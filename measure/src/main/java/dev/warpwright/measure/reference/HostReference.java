package dev.warpwright.measure.reference;

import dev.warpwright.workload.Epilogue;
import java.util.Map;

/** Elements of products by plain loops in Java, to check the checker. */
public final class HostReference {
  private HostReference() {}

  /** A sum of products, and that of their squares. */
  record Sums(double sum, double squares) {}

  /**
   * Σₖ a[i, k] · w[j, k] in f64; a[k, i] where a is stored {@code transposedA}, w[k, j] where w is
   * not stored {@code transposedW}; and the sum of the products' squares.
   */
  static Sums dot(
      HostMatrix a,
      boolean transposedA,
      long i,
      HostMatrix w,
      boolean transposedW,
      long j,
      long depth) {
    double sum = 0;
    double squares = 0;
    for (long k = 0; k < depth; k++) {
      double product =
          (transposedA ? a.get(k, i) : a.get(i, k)) * (transposedW ? w.get(j, k) : w.get(k, j));
      sum += product;
      squares += product * product;
    }
    return new Sums(sum, squares);
  }

  /** What an epilogue makes of a sum, given the elements that it reads. */
  public static double epilogue(
      Epilogue epilogue, double sum, Map<Epilogue.Operand, Double> operands) {
    double value =
        epilogue.alpha()
            * sum
            * operands.getOrDefault(Epilogue.Operand.ROW_SCALE, 1.0)
            * operands.getOrDefault(Epilogue.Operand.COLUMN_SCALE, 1.0);
    value += epilogue.beta() * operands.getOrDefault(Epilogue.Operand.ADDEND, 0.0);
    value += operands.getOrDefault(Epilogue.Operand.BIAS, 0.0);
    return epilogue.activation().at(value) * operands.getOrDefault(Epilogue.Operand.GATE, 1.0)
        + operands.getOrDefault(Epilogue.Operand.RESIDUAL, 0.0);
  }
}
