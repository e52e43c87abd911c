package dev.warpwright.families.ffn;

import dev.warpwright.families.StagedProduct;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.tensor.PrimFuncs;
import dev.warpwright.workload.tensor.Tensor;
import java.util.List;

/**
 * Two products, the second of what the first computes: {@code H[M, N1] = gelu(X[M, K] · W1[N1,
 * K]ᵀ)}, {@code Y[M, N2] = H · W2[N2, N1]ᵀ}, with the gelu of erf. H is rounded to the operands'
 * type, in which it is multiplied.
 *
 * @param m rows
 * @param k columns of X
 * @param hidden columns of H
 * @param n columns of Y
 * @param operands type of all matrices; sums are in f32
 */
public record FfnWorkload(long m, long k, long hidden, long n, DType operands) {
  static final StagedProduct.Names FIRST = new StagedProduct.Names("X", "W1", "sums1", "H");
  static final StagedProduct.Names SECOND = new StagedProduct.Names("H", "W2", "sums2", "Y");

  /** The first product by itself. */
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

  /** The second product by itself. */
  public GemmWorkload second() {
    return GemmWorkload.nt(m, n, hidden, operands);
  }

  /** The computation: parameters X, W1, H, W2, Y; blocks {@code sums1}, H, {@code sums2}, Y. */
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
            v -> Activation.GELU.of(sums1.at(v.get(0), v.get(1))));
    Tensor sums2 = sums("sums2", h, w2, m, n, hidden);
    Tensor y =
        Tensor.compute(
            "Y", operands, List.of(Exprs.i32(m), Exprs.i32(n)), v -> sums2.at(v.get(0), v.get(1)));
    return PrimFuncs.of(
        "ffn_gelu_" + operands.text(),
        List.of(x.buffer(), w1.buffer(), h.buffer(), w2.buffer(), y.buffer()),
        List.of(sums1, h, sums2, y));
  }

  private Tensor matrix(String name, long rows, long columns) {
    return Tensor.input(name, operands, Exprs.i32(rows), Exprs.i32(columns));
  }

  /** The sums of a · bᵀ. */
  static Tensor sums(String name, Tensor a, Tensor b, long rows, long columns, long depth) {
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

  /** Lets a schedule's program say what it computes. */
  void describe(Schedule s) {
    s.annotate("workload", "ffn_gelu");
  }
}
