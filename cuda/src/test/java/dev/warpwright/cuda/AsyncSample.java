package dev.warpwright.cuda;

import static dev.warpwright.ir.Exprs.add;
import static dev.warpwright.ir.Exprs.and;
import static dev.warpwright.ir.Exprs.bool;
import static dev.warpwright.ir.Exprs.ceilDiv;
import static dev.warpwright.ir.Exprs.div;
import static dev.warpwright.ir.Exprs.evaluate;
import static dev.warpwright.ir.Exprs.f32;
import static dev.warpwright.ir.Exprs.i32;
import static dev.warpwright.ir.Exprs.load;
import static dev.warpwright.ir.Exprs.lt;
import static dev.warpwright.ir.Exprs.mod;
import static dev.warpwright.ir.Exprs.mul;
import static dev.warpwright.ir.Stmts.alloc;
import static dev.warpwright.ir.Stmts.loop;
import static dev.warpwright.ir.Stmts.seq;
import static dev.warpwright.ir.Stmts.when;

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
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;
import java.util.function.BiFunction;

/** A sample of asynchronous copies. */
final class AsyncSample {
  private AsyncSample() {}

  /** A column of sums over rows that arrive by cp.async, two stages in turn, in tf32. */
  static Kernel asyncTf32() {
    Var m = Var.index("M");
    Buffer a = Buffer.of("A", DType.F32, Scope.GLOBAL, List.of(m, i32(256)));
    Buffer b = Buffer.of("B", DType.F32, Scope.GLOBAL, 8, 256);
    Buffer c = Buffer.of("C", DType.F32, Scope.GLOBAL, List.of(m, i32(8)));
    Buffer as = Buffer.of("a_stage", DType.F32, Scope.SHARED, 2, 16, 132);
    Buffer bs = Buffer.of("b_stage", DType.F32, Scope.SHARED, 2, 8, 132);
    Buffer af = Buffer.of("a", DType.U32, Scope.LOCAL, 4);
    Buffer bf = Buffer.of("b", DType.U32, Scope.LOCAL, 2);
    Buffer acc = Buffer.of("acc", DType.F32, Scope.LOCAL, 4);
    Var bx = Var.index("block");
    Var t = Var.index("t");
    Expr g = div(t, 4);
    Expr q = mod(t, 4);
    BiFunction<Expr, Expr, Stmt> fetch =
        (stage, tile) ->
            seq(
                loop(
                    ForKind.SERIAL,
                    "row",
                    16,
                    row -> {
                      Expr global = add(mul(bx, 16), row);
                      return evaluate(
                          Intrinsics.CP_ASYNC_16,
                          SampleKernels.at(as, stage, row, mul(t, 4)),
                          SampleKernels.at(
                              a, Exprs.min(global, add(m, -1)), add(mul(tile, 128), mul(t, 4))),
                          Exprs.select(lt(global, m), i32(16), i32(0)));
                    }),
                loop(
                    ForKind.SERIAL,
                    "row",
                    8,
                    row ->
                        evaluate(
                            Intrinsics.CP_ASYNC_16,
                            SampleKernels.at(bs, stage, row, mul(t, 4)),
                            SampleKernels.at(b, row, add(mul(tile, 128), mul(t, 4))),
                            i32(16))),
                evaluate(Intrinsics.CP_ASYNC_COMMIT));
    Stmt multiply =
        loop(
            ForKind.SERIAL,
            "tile",
            2,
            tile ->
                seq(
                    when(lt(tile, i32(1)), fetch.apply(i32(1), i32(1))),
                    new Stmt.If(
                        lt(tile, i32(1)),
                        evaluate(Intrinsics.CP_ASYNC_WAIT, i32(1)),
                        evaluate(Intrinsics.CP_ASYNC_WAIT, i32(0))),
                    evaluate(Intrinsics.SYNC_THREADS),
                    new Stmt.For(
                        Var.index("unused"),
                        i32(0),
                        i32(1),
                        ForKind.SERIAL,
                        null,
                        Attrs.NONE.with("unroll", 1),
                        loop(
                            ForKind.UNROLLED,
                            "k",
                            16,
                            k ->
                                seq(
                                    loop(
                                        ForKind.UNROLLED,
                                        "i",
                                        4,
                                        i ->
                                            new Stmt.Store(
                                                af,
                                                List.of(i),
                                                SampleKernels.round(
                                                    load(
                                                        as,
                                                        tile,
                                                        add(g, mul(mod(i, 2), 8)),
                                                        add(
                                                            add(mul(k, 8), q),
                                                            mul(div(i, 2), 4)))))),
                                    loop(
                                        ForKind.UNROLLED,
                                        "i",
                                        2,
                                        i ->
                                            new Stmt.Store(
                                                bf,
                                                List.of(i),
                                                SampleKernels.round(
                                                    load(
                                                        bs,
                                                        tile,
                                                        g,
                                                        add(add(mul(k, 8), q), mul(i, 4)))))),
                                    evaluate(
                                        Intrinsics.MMA_M16N8K8_TF32,
                                        SampleKernels.at(acc, i32(0)),
                                        SampleKernels.at(af, i32(0)),
                                        SampleKernels.at(bf, i32(0))))))));
    Stmt store =
        loop(
            ForKind.UNROLLED,
            "h",
            2,
            h -> {
              Expr row = add(add(mul(bx, 16), g), mul(h, 8));
              return when(
                  and(lt(row, m), bool(true)),
                  new Stmt.Store(
                      c,
                      List.of(row, SampleKernels.ramp(mul(q, 2), 2)),
                      load(acc, SampleKernels.ramp(mul(h, 2), 2))));
            });
    return new Kernel(
        "async_tf32",
        Kernel.Kind.GRID,
        List.<Param>of(a, b, c, new ScalarParam(m, 1, 1 << 24)),
        List.of(
            new ThreadBinding(ThreadAxis.BLOCK_X, bx, ceilDiv(m, 16)),
            new ThreadBinding(ThreadAxis.THREAD_X, t, i32(32))),
        alloc(
            List.of(as, bs, af, bf, acc),
            seq(
                loop(ForKind.UNROLLED, "i", 4, i -> new Stmt.Store(acc, List.of(i), f32(0))),
                fetch.apply(i32(0), i32(0)),
                multiply,
                store)),
        Attrs.NONE);
  }
}
