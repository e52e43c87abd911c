package dev.warpwright.measure;

import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import java.util.Map;

/** Elements of products by plain loops in Java, to check the checker. */
final class HostReference {
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
  static double epilogue(Epilogue epilogue, double sum, Map<Epilogue.Operand, Double> operands) {
    double value =
        epilogue.alpha()
            * sum
            * operands.getOrDefault(Epilogue.Operand.ROW_SCALE, 1.0)
            * operands.getOrDefault(Epilogue.Operand.COLUMN_SCALE, 1.0);
    value += epilogue.beta() * operands.getOrDefault(Epilogue.Operand.ADDEND, 0.0);
    value += operands.getOrDefault(Epilogue.Operand.BIAS, 0.0);
    return activation(epilogue.activation(), value)
            * operands.getOrDefault(Epilogue.Operand.GATE, 1.0)
        + operands.getOrDefault(Epilogue.Operand.RESIDUAL, 0.0);
  }

  private static double activation(Activation activation, double x) {
    return switch (activation) {
      case NONE -> x;
      case RELU -> Math.max(x, 0);
      case GELU -> gelu(x);
      case GELU_TANH ->
          0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
      case SILU -> x / (1 + Math.exp(-x));
    };
  }

  /** {@code x/2 · (1 + erf(x/√2))}, to about 1e-14. */
  static double gelu(double x) {
    return 0.5 * x * (1 + erf(x / Math.sqrt(2)));
  }

  /** 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!!, whose terms all have one sign. */
  private static double erf(double x) {
    if (Math.abs(x) > 6) {
      return Math.signum(x);
    }
    double term = x;
    double sum = x;
    for (int n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= 2 * x * x / (2 * n + 1);
      sum += term;
    }
    return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
  }
}
