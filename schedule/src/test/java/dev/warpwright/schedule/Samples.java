package dev.warpwright.schedule;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import java.util.ArrayList;
import java.util.List;

/** Small functions that most tests schedule. */
public final class Samples {
  private Samples() {}

  public static Buffer global(String name, long... shape) {
    return Buffer.of(name, DType.F32, Scope.GLOBAL, shape);
  }

  /** {@code c[i, j] = Σₖ a[i, k] · b[k, j]}, block {@code c}. */
  public static PrimFunc matmul(long m, long n, long k) {
    Buffer a = global("a", m, k);
    Buffer b = global("b", k, n);
    Buffer c = global("c", m, n);
    return Functions.function(List.of(a, b, c), Functions.product(c, a, b, false));
  }

  /** {@code h = 2x; y = h + 1}, blocks {@code h} and {@code y}, over [m, n]. */
  public static PrimFunc chain(long m, long n) {
    return chain(Exprs.i32(m), n, List.of());
  }

  /** The same over M rows. */
  public static PrimFunc chainOfRows(long n) {
    ScalarParam rows = Functions.rows();
    return chain(rows.var(), n, List.of(rows));
  }

  private static PrimFunc chain(Expr m, long n, List<Param> scalars) {
    List<Expr> shape = List.of(m, Exprs.i32(n));
    Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, shape);
    Buffer h = Buffer.of("h", DType.F32, Scope.GLOBAL, shape);
    Buffer y = Buffer.of("y", DType.F32, Scope.GLOBAL, shape);
    Stmt first = Functions.elementwise(h, at -> Exprs.mul(new Expr.Load(x, at), Exprs.f32(2)));
    Stmt second = Functions.elementwise(y, at -> Exprs.add(new Expr.Load(h, at), Exprs.f32(1)));
    List<Param> params = new ArrayList<>(List.of(x, y));
    params.addAll(scalars);
    return Functions.function(params, first, second);
  }

  /** {@code h = 2x; y = h + 1; z = h - x}, over [m, n]: two results. */
  public static PrimFunc twoResults(long m, long n) {
    Buffer x = global("x", m, n);
    Buffer h = global("h", m, n);
    Buffer y = global("y", m, n);
    Buffer z = global("z", m, n);
    return Functions.function(
        List.of(x, y, z),
        Functions.elementwise(h, at -> Exprs.mul(new Expr.Load(x, at), Exprs.f32(2))),
        Functions.elementwise(y, at -> Exprs.add(new Expr.Load(h, at), Exprs.f32(1))),
        Functions.elementwise(z, at -> Exprs.sub(new Expr.Load(h, at), new Expr.Load(x, at))));
  }

  /** {@code s[i] = Σ x[i, k]; y[i, j] = x[i, j] - s[i]}. */
  public static PrimFunc centred(long m, long n) {
    Buffer x = global("x", m, n);
    Buffer s = global("s", m);
    Buffer y = global("y", m, n);
    return Functions.function(
        List.of(x, y),
        Functions.rowSum(s, x),
        Functions.elementwise(y, at -> Exprs.sub(new Expr.Load(x, at), Exprs.load(s, at.get(0)))));
  }
}
