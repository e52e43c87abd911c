package dev.warpwright.families;

import dev.warpwright.ir.DType;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.tensor.PrimFuncs;
import dev.warpwright.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A product of matrices, {@code C[M, N] = f(A · B)}, with sums in f32.
 *
 * @param m rows of the result, at least 1
 * @param n columns of the result, at least 1
 * @param k length of the sums, at least 1
 * @param operands type of A and B
 * @param result type of C
 * @param layout how A and B lie in memory
 * @param epilogue the function f
 */
public record GemmWorkload(
    long m, long n, long k, DType operands, DType result, Layout layout, Epilogue epilogue) {
  /** First letter A, second B: N as written in the formula, T transposed. */
  public enum Layout {
    /** A[M, K], B[N, K]: both contiguous along K. */
    NT,
    /** A[M, K], B[K, N]. */
    NN,
    /** A[K, M], B[K, N]. */
    TN,
    /** A[K, M], B[N, K]. */
    TT;

    /** Whether A is stored [K, M]. */
    public boolean transposedA() {
      return this == TN || this == TT;
    }

    /** Whether B is stored [N, K]. */
    public boolean transposedB() {
      return this == NT || this == TT;
    }
  }

  public GemmWorkload {
    if (m < 1 || n < 1 || k < 1) {
      throw new IllegalArgumentException("a product of %d x %d x %d".formatted(m, n, k));
    }
  }

  /** {@code C = A · Bᵀ} without an epilogue, the result in the operands' type. */
  public static GemmWorkload nt(long m, long n, long k, DType dtype) {
    return new GemmWorkload(m, n, k, dtype, dtype, Layout.NT, Epilogue.NONE);
  }

  /** The name in attributes and records, as {@code gemm_nt}. */
  public String kind() {
    return "gemm_" + layout.name().toLowerCase(Locale.ROOT);
  }

  /**
   * The computation, blocks {@code acc} (the sums) and {@code C}; parameters A, B, bias and R if
   * the epilogue uses them, C.
   */
  public PrimFunc func() {
    return func(false);
  }

  /**
   * The computation.
   *
   * @param swapped whether the sums are computed as {@code acc[N, M]}: the result is the same, but
   *     a tile's columns are then rows of A
   */
  PrimFunc func(boolean swapped) {
    Expr rows = Exprs.i32(m);
    Expr columns = Exprs.i32(n);
    Expr depth = Exprs.i32(k);
    Tensor a =
        layout.transposedA()
            ? Tensor.input("A", operands, depth, rows)
            : Tensor.input("A", operands, rows, depth);
    Tensor b =
        layout.transposedB()
            ? Tensor.input("B", operands, columns, depth)
            : Tensor.input("B", operands, depth, columns);
    Tensor sums = sums(a, b, swapped);
    Tensor bias = Tensor.input("bias", DType.F32, columns);
    Tensor residual = Tensor.input("R", result, rows, columns);
    Tensor c =
        Tensor.compute(
            "C",
            result,
            List.of(rows, columns),
            v -> {
              Expr value = swapped ? sums.at(v.get(1), v.get(0)) : sums.at(v.get(0), v.get(1));
              if (epilogue.alpha() != 1) {
                value = Exprs.mul(value, Exprs.f32(epilogue.alpha()));
              }
              if (epilogue.beta() != 0) {
                Expr old = Exprs.cast(DType.F32, residual.at(v.get(0), v.get(1)));
                value = Exprs.fma(Exprs.f32(epilogue.beta()), old, value);
              }
              if (epilogue.bias()) {
                value = Exprs.add(value, bias.at(v.get(1)));
              }
              return epilogue.activation().of(value);
            });
    List<Param> params = new ArrayList<>(List.of(a.buffer(), b.buffer()));
    if (epilogue.bias()) {
      params.add(bias.buffer());
    }
    if (epilogue.beta() != 0) {
      params.add(residual.buffer());
    }
    params.add(c.buffer());
    return PrimFuncs.of(kind() + "_" + operands.text(), params, List.of(sums, c));
  }

  private Tensor sums(Tensor a, Tensor b, boolean swapped) {
    Expr rows = Exprs.i32(swapped ? n : m);
    Expr columns = Exprs.i32(swapped ? m : n);
    return Tensor.reduce(
        "acc",
        DType.F32,
        List.of(rows, columns),
        List.of(Exprs.i32(k)),
        Exprs.f32(0),
        (s, r, last) -> {
          Expr row = s.get(swapped ? 1 : 0);
          Expr column = s.get(swapped ? 0 : 1);
          Expr step = r.getFirst();
          Expr left =
              Exprs.cast(DType.F32, layout.transposedA() ? a.at(step, row) : a.at(row, step));
          Expr right =
              Exprs.cast(DType.F32, layout.transposedB() ? b.at(column, step) : b.at(step, column));
          return swapped ? Exprs.fma(right, left, last) : Exprs.fma(left, right, last);
        });
  }

  /** Operations, a multiply-add counting as two. */
  public double flops() {
    return 2.0 * m * n * k;
  }
}
