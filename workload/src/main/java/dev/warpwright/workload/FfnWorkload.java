package dev.warpwright.workload;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.accuracy.SumAccuracy;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.workload.tensor.Approximations;
import dev.warpwright.workload.tensor.PrimFuncs;
import dev.warpwright.workload.tensor.Tensor;
import java.util.List;
import java.util.Locale;

/**
 * Two products, the second of what the first computes: {@code H[M, N1] = gelu(X[M, K] · W1[N1,
 * K]ᵀ)}, {@code Y[M, N2] = H · W2[N2, N1]ᵀ}, with the gelu of erf. H is rounded to the operands'
 * type, in which it is multiplied.
 *
 * @param m rows
 * @param k columns of X
 * @param hidden columns of H
 * @param n columns of Y
 * @param operands type of all matrices but Y; sums are in f32
 * @param result type of Y
 */
public record FfnWorkload(long m, long k, long hidden, long n, DType operands, DType result)
    implements Workload {
  /**
   * A block whose result is of the operands' type.
   *
   * @param m rows
   * @param k features of the input
   * @param hidden features between the products
   * @param n features of the result
   * @param operands type of inputs and weights
   */
  public FfnWorkload(long m, long k, long hidden, long n, DType operands) {
    this(m, k, hidden, n, operands, operands);
  }

  @Override
  public String kind() {
    return "ffn_gelu";
  }

  @Override
  public String text() {
    return String.format(
        Locale.ROOT, "ffn_gelu M=%d K1=%d N1=%d N2=%d %s", m, k, hidden, n, operands);
  }

  @Override
  public Precision precision() {
    return Precision.of(operands);
  }

  @Override
  public List<DType> results() {
    return List.of(operands, result);
  }

  @Override
  public double flops() {
    return 2.0 * m * hidden * (k + n);
  }

  @Override
  public GemmDeviation deviation(int product) {
    SumAccuracy sums = precision().accuracy();
    return product == 0
        ? first().deviation(0)
        // A kernel's first product may be rounded to a neighbour of the reference's.
        : GemmDeviation.of(
            sums.ofRounded(ErrorBound.of(operands).unit()), hidden, Epilogue.NONE, result);
  }

  /** {@return the first product by itself} */
  public GemmWorkload first() {
    return new GemmWorkload(
        m,
        hidden,
        k,
        operands,
        operands,
        GemmWorkload.Layout.NT,
        new Epilogue(1, 0, false, Activation.GELU));
  }

  /** {@return the second product by itself} */
  public GemmWorkload second() {
    return new GemmWorkload(m, n, hidden, operands, result, GemmWorkload.Layout.NT, Epilogue.NONE);
  }

  /** Parameters X, W1, H, W2, Y; blocks {@code sums1}, H, {@code sums2}, Y. */
  @Override
  public PrimFunc func() {
    Tensor x = matrix("X", m, k);
    Tensor w1 = matrix("W1", hidden, k);
    Tensor w2 = matrix("W2", n, hidden);
    Tensor sums1 = sums("sums1", x, w1, m, hidden, k);
    Tensor h =
        Tensor.compute(
            "H",
            operands,
            List.of(Exprs.i32(m), Exprs.i32(hidden)),
            v -> {
              Expr gelu = Activation.GELU.of(sums1.at(v.get(0), v.get(1)));
              return operands.bytes() <= 2 ? Approximations.of(gelu, operands) : gelu;
            });
    Tensor sums2 = sums("sums2", h, w2, m, n, hidden);
    Tensor y =
        Tensor.compute(
            "Y", result, List.of(Exprs.i32(m), Exprs.i32(n)), v -> sums2.at(v.get(0), v.get(1)));
    return PrimFuncs.of(
        "ffn_gelu_" + operands.text(),
        List.of(x.buffer(), w1.buffer(), h.buffer(), w2.buffer(), y.buffer()),
        List.of(sums1, h, sums2, y));
  }

  private Tensor matrix(String name, long rows, long columns) {
    return Tensor.input(name, operands, Exprs.i32(rows), Exprs.i32(columns));
  }

  /**
   * {@return the sums of a · bᵀ}
   *
   * @param name of the result
   * @param a [rows, depth]
   * @param b [columns, depth]
   * @param rows of the result
   * @param columns of the result
   * @param depth terms of each sum
   */
  public static Tensor sums(String name, Tensor a, Tensor b, long rows, long columns, long depth) {
    return Tensor.reduce(
        name,
        DType.F32,
        List.of(Exprs.i32(rows), Exprs.i32(columns)),
        List.of(Exprs.i32(depth)),
        Exprs.zero(Type.F32),
        (s, r, last) ->
            Exprs.fma(
                Exprs.cast(DType.F32, a.at(s.get(0), r.getFirst())),
                Exprs.cast(DType.F32, b.at(s.get(1), r.getFirst())),
                last));
  }
}
