package dev.warpwright.sim;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;

/** Small grid kernels that several tests execute. */
final class Kernels {
  static final int TILE = 16;
  static final Stmt SYNC = Exprs.evaluate(Intrinsics.SYNC_THREADS);

  private Kernels() {}

  /** Which barriers {@link #matmul} has. */
  enum Barriers {
    BOTH,
    /** Not the one between the stores to shared memory and the loads. */
    NO_FIRST,
    /** Not the one between the loads and the stores of the next tile. */
    NO_SECOND
  }

  /** f32 matmul of any size, M symbolic; a block of 16×16 threads makes a tile of 16×16. */
  static Kernel matmul(long n, long k, Barriers barriers) {
    Var m = Var.index("M");
    Buffer a = Buffer.of("A", DType.F32, Scope.GLOBAL, List.of(m, Exprs.i32(k)));
    Buffer b = Buffer.of("B", DType.F32, Scope.GLOBAL, k, n);
    Buffer c = Buffer.of("C", DType.F32, Scope.GLOBAL, List.of(m, Exprs.i32(n)));
    Buffer as = Buffer.of("As", DType.F32, Scope.SHARED, TILE, TILE);
    Buffer bs = Buffer.of("Bs", DType.F32, Scope.SHARED, TILE, TILE);
    Buffer acc = Buffer.of("acc", DType.F32, Scope.LOCAL, 1);
    Var bx = Var.index("bx");
    Var by = Var.index("by");
    Var tx = Var.index("tx");
    Var ty = Var.index("ty");
    Var p = Var.index("p");
    Var q = Var.index("q");
    Expr row = Exprs.add(Exprs.mul(by, TILE), ty);
    Expr col = Exprs.add(Exprs.mul(bx, TILE), tx);
    Expr ka = Exprs.add(Exprs.mul(p, TILE), tx);
    Expr kb = Exprs.add(Exprs.mul(p, TILE), ty);
    Expr zero = Exprs.i32(0);
    Stmt stage =
        Stmts.seq(
            new Stmt.Store(as, List.of(ty, tx), guarded(a, row, m, ka, Exprs.i32(k))),
            new Stmt.Store(bs, List.of(ty, tx), guarded(b, kb, Exprs.i32(k), col, Exprs.i32(n))));
    Stmt compute =
        Programs.loop(
            q,
            TILE,
            new Stmt.Store(
                acc,
                List.of(zero),
                Exprs.fma(Exprs.load(as, ty, q), Exprs.load(bs, q, tx), Exprs.load(acc, zero))));
    Stmt step =
        Stmts.seq(
            stage,
            barriers == Barriers.NO_FIRST ? Stmt.Seq.EMPTY : SYNC,
            compute,
            barriers == Barriers.NO_SECOND ? Stmt.Seq.EMPTY : SYNC);
    Stmt body =
        Stmts.seq(
            new Stmt.Store(acc, List.of(zero), Exprs.f32(0)),
            Programs.loop(p, (k + TILE - 1) / TILE, step),
            Stmts.when(
                Exprs.and(Exprs.lt(row, m), Exprs.lt(col, Exprs.i32(n))),
                new Stmt.Store(c, List.of(row, col), Exprs.load(acc, zero))));
    return new Kernel(
        "matmul",
        Kernel.Kind.GRID,
        List.of(new ScalarParam(m, 0, 1000), a, b, c),
        List.of(
            new ThreadBinding(ThreadAxis.BLOCK_X, bx, Exprs.i32((n + TILE - 1) / TILE)),
            new ThreadBinding(ThreadAxis.BLOCK_Y, by, Exprs.ceilDiv(m, TILE)),
            new ThreadBinding(ThreadAxis.THREAD_X, tx, Exprs.i32(TILE)),
            new ThreadBinding(ThreadAxis.THREAD_Y, ty, Exprs.i32(TILE))),
        Stmts.alloc(List.of(as, bs, acc), body),
        Attrs.NONE);
  }

  private static Expr guarded(Buffer b, Expr i, Expr rows, Expr j, Expr cols) {
    return Exprs.select(
        Exprs.and(Exprs.lt(i, rows), Exprs.lt(j, cols)), Exprs.load(b, i, j), Exprs.f32(0));
  }

  /** One-dimensional launch. */
  static Kernel kernel(
      String name, Var block, long blocks, Var thread, long threads, Stmt body, Param... params) {
    return new Kernel(
        name,
        Kernel.Kind.GRID,
        List.of(params),
        List.of(
            new ThreadBinding(ThreadAxis.BLOCK_X, block, Exprs.i32(blocks)),
            new ThreadBinding(ThreadAxis.THREAD_X, thread, Exprs.i32(threads))),
        body,
        Attrs.NONE);
  }

  static Stmt loop(Var v, Expr extent, Stmt body) {
    return Stmt.For.of(ForKind.SERIAL, v, extent, body);
  }
}
