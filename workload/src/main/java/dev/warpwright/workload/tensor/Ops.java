package dev.warpwright.workload.tensor;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.List;
import java.util.function.UnaryOperator;

/** The operators of networks as formulas. */
public final class Ops {
  private static final double INV_SQRT2 = 0.70710678118654752440;
  private static final double SQRT_2_OVER_PI = 0.79788456080286535588;

  private Ops() {}

  /**
   * {@code out[i, j] = Σₖ a[i, k] · w[j, k]}, accumulated by fma in f32 (f64 for f64 operands) in
   * ascending k.
   *
   * @param a shape [M, K]; only its first {@code k} columns are read
   * @param w shape [≥ n, ≥ k] if {@code transposed}, otherwise [≥ k, ≥ n]: storage may be padded
   */
  public static Tensor matmul(String name, Tensor a, Tensor w, boolean transposed, long n, long k) {
    DType accumulator = a.dtype() == DType.F64 ? DType.F64 : DType.F32;
    return Tensor.reduce(
        name,
        accumulator,
        List.of(a.shape().getFirst(), Exprs.i32(n)),
        List.of(Exprs.i32(k)),
        Exprs.zero(Type.of(accumulator)),
        (s, r, last) ->
            Exprs.fma(
                Exprs.cast(accumulator, a.at(s.get(0), r.get(0))),
                Exprs.cast(
                    accumulator, transposed ? w.at(s.get(1), r.get(0)) : w.at(r.get(0), s.get(1))),
                last));
  }

  /** {@code 1 / (1 + exp(-x))}. */
  public static Expr sigmoid(Expr x) {
    Expr one = Exprs.constant(x.type(), 1);
    return Exprs.div(one, Exprs.add(one, Exprs.call(MathOp.EXP, negate(x))));
  }

  /** {@code x/2 · (1 + erf(x/√2))}. */
  public static Expr gelu(Expr x) {
    Expr erf = Exprs.call(MathOp.ERF, Exprs.mul(x, Exprs.constant(x.type(), INV_SQRT2)));
    return Exprs.mul(
        Exprs.mul(x, Exprs.constant(x.type(), 0.5)), Exprs.add(Exprs.constant(x.type(), 1), erf));
  }

  /** {@code x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))}. */
  public static Expr geluTanh(Expr x) {
    Expr cube = Exprs.mul(Exprs.mul(x, x), x);
    Expr inner =
        Exprs.mul(
            Exprs.constant(x.type(), SQRT_2_OVER_PI),
            Exprs.fma(Exprs.constant(x.type(), 0.044715), cube, x));
    return Exprs.mul(
        Exprs.mul(x, Exprs.constant(x.type(), 0.5)),
        Exprs.add(Exprs.constant(x.type(), 1), Exprs.call(MathOp.TANH, inner)));
  }

  /** {@code max(x, 0)}, with NaN kept. */
  public static Expr relu(Expr x) {
    Expr zero = Exprs.zero(x.type());
    return Exprs.select(Exprs.lt(x, zero), zero, x);
  }

  public static Expr negate(Expr x) {
    return new Expr.Unary(UnaryOp.NEG, x);
  }

  /**
   * The formula applied to every element of a matrix, computed in f32 and stored as {@code dtype}.
   */
  public static Tensor map(String name, DType dtype, Tensor a, UnaryOperator<Expr> formula) {
    return Tensor.compute(name, dtype, a.shape(), v -> formula.apply(a.f32At(v.get(0), v.get(1))));
  }
}
