package dev.warpwright.workload;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.accuracy.SumAccuracy;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What honest arithmetic may add to an element of a product before it is rounded to the type of the
 * result, as a standard deviation ({@link dev.warpwright.ir.accuracy}): that of the sum, and what
 * the epilogue makes of it. With m = |α·r·c·T| + |β·R| + |bias|, which bounds all that the epilogue
 * has in hand, L the Lipschitz constant of the activation f and u the unit roundoff it computes in:
 *
 * <pre>{@code σ = |gate| · (L · (|α·r·c| · σ_sum + 2u·m) + 2u·(m + |f(0)|)) + 2u·|residual|}</pre>
 *
 * <p>f₀ is {@link #offset()}. 2u, sixteen times which is allowed, stands for its few roundings and
 * functions of 4 ulp.
 *
 * @param relative deviation c of the sum
 * @param epilogue what follows the sum
 * @param unit u
 * @param result what elements are rounded to
 */
public record GemmDeviation(double relative, Epilogue epilogue, double unit, DType result) {
  /**
   * {@return the deviation of a product with an epilogue}
   *
   * @param sums how precisely sums are computed
   * @param k terms of each sum
   * @param epilogue what becomes of the sums
   * @param result what elements are rounded to
   */
  public static GemmDeviation of(SumAccuracy sums, long k, Epilogue epilogue, DType result) {
    double unit = sums.equals(SumAccuracy.OF_F64) ? 0x1p-53 : 0x1p-24;
    return new GemmDeviation(sums.deviation(k), epilogue, unit, result);
  }

  /**
   * {@return of what size the activation is at least for its rounding: |f(0)|, or 1 where what is
   * taken for it in 16 bits is off by a part of 1 near 0, too ({@link
   * dev.warpwright.workload.tensor.Approximations})}
   */
  public double offset() {
    Activation activation = epilogue.activation();
    return GemmFunction.isOffByPartOfOne(activation, result) ? 1 : Math.abs(activation.at(0));
  }

  /** Whether the result is the sum, rounded. */
  private boolean isPlain() {
    return epilogue.equals(Epilogue.NONE);
  }

  /**
   * {@return how far one element may be off, computed on the host}
   *
   * @param sum T
   * @param squares Q
   * @param operands elements that the epilogue reads
   */
  public double of(double sum, double squares, Map<Epilogue.Operand, Double> operands) {
    double ofSum = relative * SumAccuracy.scale(sum, squares);
    if (isPlain()) {
      return ofSum;
    }
    double factor =
        Math.abs(
            epilogue.alpha()
                * operands.getOrDefault(Epilogue.Operand.ROW_SCALE, 1.0)
                * operands.getOrDefault(Epilogue.Operand.COLUMN_SCALE, 1.0));
    double most =
        factor * Math.abs(sum)
            + Math.abs(epilogue.beta() * operands.getOrDefault(Epilogue.Operand.ADDEND, 0.0))
            + Math.abs(operands.getOrDefault(Epilogue.Operand.BIAS, 0.0));
    double activated =
        epilogue.activation().slope() * (factor * ofSum + 2 * unit * most)
            + 2 * unit * (most + offset());
    return Math.abs(operands.getOrDefault(Epilogue.Operand.GATE, 1.0)) * activated
        + 2 * unit * Math.abs(operands.getOrDefault(Epilogue.Operand.RESIDUAL, 0.0));
  }

  /**
   * {@return how far an element of a gated linear unit may be off}
   *
   * @param gate what the gate's part makes of its sum
   * @param gateDeviation of that
   * @param up what is multiplied with it
   * @param upDeviation of that
   * @param residual what is added; 0 for nothing
   */
  public double ofProduct(
      double gate, double gateDeviation, double up, double upDeviation, double residual) {
    return Math.abs(up) * gateDeviation
        + Math.abs(gate) * upDeviation
        + gateDeviation * upDeviation
        + 2 * unit * (Math.abs(gate * up) + Math.abs(residual));
  }

  /**
   * {@return the same as an expression in f32}
   *
   * @param gate what the gate's part makes of its sum
   * @param gateDeviation of that
   * @param up what is multiplied with it
   * @param upDeviation of that
   * @param residual what is added; null for nothing
   */
  public Expr ofProduct(
      Expr gate, Expr gateDeviation, Expr up, Expr upDeviation, @Nullable Expr residual) {
    Expr one = Exprs.call(MathOp.ABS, gate);
    Expr other = Exprs.call(MathOp.ABS, up);
    Expr most = Exprs.mul(one, other);
    if (residual != null) {
      most = Exprs.add(most, Exprs.call(MathOp.ABS, Exprs.cast(DType.F32, residual)));
    }
    Expr spread =
        Exprs.add(
            Exprs.add(Exprs.mul(other, gateDeviation), Exprs.mul(one, upDeviation)),
            Exprs.mul(gateDeviation, upDeviation));
    return Exprs.add(spread, times(most, 2 * unit));
  }

  /** {@return the same of a gated linear unit's gate, by itself} */
  public GemmDeviation gatePart() {
    return new GemmDeviation(relative, epilogue.gatePart(), unit, result);
  }

  /** {@return the same of what a gated linear unit's gate lets through, by itself} */
  public GemmDeviation upPart() {
    return new GemmDeviation(relative, epilogue.upPart(), unit, result);
  }

  /**
   * {@return the same as an expression in f32}
   *
   * @param sum T
   * @param squares Q
   * @param operands elements that the epilogue reads
   */
  public Expr of(Expr sum, Expr squares, Function<Epilogue.Operand, Expr> operands) {
    Expr scale = Exprs.call(MathOp.SQRT, times(Exprs.fma(sum, sum, squares), 0.5));
    Expr ofSum = times(scale, relative);
    if (isPlain()) {
      return ofSum;
    }
    Expr factor = Exprs.f32(Math.abs(epilogue.alpha()));
    if (epilogue.rowScale()) {
      factor = Exprs.mul(factor, magnitude(operands, Epilogue.Operand.ROW_SCALE));
    }
    if (epilogue.columnScale()) {
      factor = Exprs.mul(factor, magnitude(operands, Epilogue.Operand.COLUMN_SCALE));
    }
    Expr most = Exprs.mul(factor, Exprs.call(MathOp.ABS, sum));
    if (epilogue.beta() != 0) {
      Expr addend = magnitude(operands, Epilogue.Operand.ADDEND);
      most = Exprs.add(most, times(addend, Math.abs(epilogue.beta())));
    }
    if (epilogue.bias()) {
      most = Exprs.add(most, magnitude(operands, Epilogue.Operand.BIAS));
    }
    Expr rounded = times(most, 2 * unit);
    Expr linear = Exprs.add(Exprs.mul(factor, ofSum), rounded);
    Expr value = Exprs.add(times(linear, epilogue.activation().slope()), rounded);
    if (offset() > 0) {
      value = Exprs.add(value, Exprs.f32(2 * unit * offset()));
    }
    if (epilogue.gate()) {
      value = Exprs.mul(value, magnitude(operands, Epilogue.Operand.GATE));
    }
    return epilogue.residual()
        ? Exprs.add(value, times(magnitude(operands, Epilogue.Operand.RESIDUAL), 2 * unit))
        : value;
  }

  private static Expr magnitude(
      Function<Epilogue.Operand, Expr> operands, Epilogue.Operand operand) {
    return Exprs.call(MathOp.ABS, Exprs.cast(DType.F32, operands.apply(operand)));
  }

  private static Expr times(Expr value, double factor) {
    return Exprs.mul(value, Exprs.constant(Type.of(DType.F32), factor));
  }
}
