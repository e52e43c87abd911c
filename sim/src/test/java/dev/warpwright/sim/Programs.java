package dev.warpwright.sim;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import java.util.List;

/** Small functions that several tests execute. */
final class Programs {
  private Programs() {}

  /** How a product is added to the accumulator. */
  interface Accumulate {
    Expr apply(Expr a, Expr b, Expr accumulator);
  }

  /** {@code C[m, n] = Σ A[m, k] B[k, n]} by fma in ascending k, C in f32. */
  static PrimFunc matmul(DType operands, long m, long n, long k) {
    return matmul(operands, m, n, k, Exprs::fma);
  }

  static PrimFunc matmul(DType operands, long m, long n, long k, Accumulate accumulate) {
    Buffer a = Buffer.of("A", operands, Scope.GLOBAL, m, k);
    Buffer b = Buffer.of("B", operands, Scope.GLOBAL, k, n);
    Buffer c = Buffer.of("C", DType.F32, Scope.GLOBAL, m, n);
    Var i = Var.index("i");
    Var j = Var.index("j");
    Var p = Var.index("p");
    Var vi = Var.index("vi");
    Var vj = Var.index("vj");
    Var vp = Var.index("vp");
    Expr product =
        accumulate.apply(
            Exprs.cast(DType.F32, Exprs.load(a, vi, vp)),
            Exprs.cast(DType.F32, Exprs.load(b, vp, vj)),
            Exprs.load(c, vi, vj));
    Stmt block =
        new Stmt.Block(
            "matmul",
            List.of(
                new IterVar(vi, Exprs.i32(m), IterVar.Kind.SPATIAL, i),
                new IterVar(vj, Exprs.i32(n), IterVar.Kind.SPATIAL, j),
                new IterVar(vp, Exprs.i32(k), IterVar.Kind.REDUCE, p)),
            null,
            List.of(),
            List.of(),
            new Stmt.Store(c, List.of(vi, vj), Exprs.f32(0)),
            new Stmt.Store(c, List.of(vi, vj), product),
            Attrs.NONE);
    return func("matmul", loop(i, m, loop(j, n, loop(p, k, block))), a, b, c);
  }

  static PrimFunc func(String name, Stmt body, Buffer... buffers) {
    return new PrimFunc(name, List.of(buffers), body, Attrs.NONE);
  }

  static Stmt loop(Var v, long extent, Stmt body) {
    return Stmt.For.of(ForKind.SERIAL, v, Exprs.i32(extent), body);
  }

  /** {@code out[0] = value}, run on no inputs. */
  static NdArray evaluate(Expr value) {
    Buffer out = Buffer.of("out", value.type().dtype(), Scope.GLOBAL, 1);
    NdArray array = NdArray.of(out).poison();
    Stmt store = new Stmt.Store(out, List.of(Exprs.i32(0)), value);
    PrimFunc func = func("evaluate", store, out);
    Interpreter.run(func, Arguments.inOrder(func.params(), array));
    return array;
  }
}
