package dev.warpwright.workload.tensor;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.List;

/** The operators of networks as formulas. */
public final class Ops {
  private Ops() {}

  /**
   * {@return {@code out[i, j] = Σₖ a[i, k] · w[j, k]}, accumulated by fma in f32 (f64 for f64
   * operands) in ascending k}
   *
   * @param name of the result
   * @param a shape [M, K]; only its first {@code k} columns are read
   * @param w shape [≥ n, ≥ k] if {@code transposed}, otherwise [≥ k, ≥ n]: storage may be padded
   * @param transposed whether w is [n, k], not [k, n]
   * @param n columns of the result
   * @param k terms of each sum
   */
  public static Tensor matmul(String name, Tensor a, Tensor w, boolean transposed, long n, long k) {
    DType accumulator = a.dtype() == DType.F64 ? DType.F64 : DType.F32;
    return matmul(name, a, w, transposed, n, k, accumulator);
  }

  /**
   * {@return {@code out[i, j] = Σₖ a[i, k] · w[j, k]}, accumulated by fma in f32 (f64 for f64
   * operands) in ascending k}
   *
   * @param name of the result
   * @param a shape [M, K]; only its first {@code k} columns are read
   * @param w shape [≥ n, ≥ k] if {@code transposed}, otherwise [≥ k, ≥ n]: storage may be padded
   * @param transposed whether w is [n, k], not [k, n]
   * @param n columns of the result
   * @param k terms of each sum
   * @param accumulator type of the sums; to f16 they are rounded from f32, product by product
   */
  public static Tensor matmul(
      String name, Tensor a, Tensor w, boolean transposed, long n, long k, DType accumulator) {
    DType wide = accumulator == DType.F16 ? DType.F32 : accumulator;
    return Tensor.reduce(
        name,
        accumulator,
        List.of(a.shape().getFirst(), Exprs.i32(n)),
        List.of(Exprs.i32(k)),
        Exprs.zero(Type.of(accumulator)),
        (s, r, last) ->
            Exprs.cast(
                accumulator,
                Exprs.fma(
                    Exprs.cast(wide, a.at(s.get(0), r.get(0))),
                    Exprs.cast(
                        wide, transposed ? w.at(s.get(1), r.get(0)) : w.at(r.get(0), s.get(1))),
                    Exprs.cast(wide, last))));
  }

  /**
   * {@return {@code x > 0 ? x : alpha · (eˣ − 1)}}
   *
   * @param x of a floating-point type
   * @param alpha of the same type
   */
  public static Expr elu(Expr x, Expr alpha) {
    return Exprs.select(Exprs.lt(Exprs.zero(x.type()), x), x, Exprs.mul(alpha, expMinusOne(x)));
  }

  /** eˣ − 1 for x ≤ 0 as 2t / (1 − t) with t = tanh(x/2), in which nothing cancels. */
  private static Expr expMinusOne(Expr x) {
    Expr t = Exprs.call(MathOp.TANH, Exprs.mul(x, Exprs.constant(x.type(), 0.5)));
    return Exprs.div(
        Exprs.mul(Exprs.constant(x.type(), 2), t), Exprs.sub(Exprs.constant(x.type(), 1), t));
  }

  /**
   * {@return −x}
   *
   * @param x of a signed type
   */
  public static Expr negate(Expr x) {
    return new Expr.Unary(UnaryOp.NEG, x);
  }
}
