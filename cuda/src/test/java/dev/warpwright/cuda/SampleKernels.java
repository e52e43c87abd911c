package dev.warpwright.cuda;

import static dev.warpwright.ir.Exprs.add;
import static dev.warpwright.ir.Exprs.cast;
import static dev.warpwright.ir.Exprs.ceilDiv;
import static dev.warpwright.ir.Exprs.div;
import static dev.warpwright.ir.Exprs.evaluate;
import static dev.warpwright.ir.Exprs.f32;
import static dev.warpwright.ir.Exprs.fma;
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
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.List;

/** Kernels written by hand, as lowering makes them. */
public final class SampleKernels {
  private SampleKernels() {}

  /** One element of C = A·B + bias for each thread. */
  static Kernel naiveMatmul() {
    Var m = Var.index("M");
    Buffer a = Buffer.of("A", DType.F32, Scope.GLOBAL, List.of(m, i32(512)));
    Buffer b = Buffer.of("B", DType.F32, Scope.GLOBAL, 512, 256);
    Buffer bias = Buffer.of("bias", DType.F32, Scope.GLOBAL, 256);
    Buffer c = Buffer.of("C", DType.F32, Scope.GLOBAL, List.of(m, i32(256)));
    Buffer acc = Buffer.of("acc", DType.F32, Scope.LOCAL);
    Var bx = Var.index("bx");
    Var by = Var.index("by");
    Var tx = Var.index("tx");
    Var row = Var.index("row");
    Var col = Var.index("col");
    Stmt k =
        loop(
            ForKind.SERIAL,
            "k",
            512,
            kk ->
                new Stmt.Store(acc, List.of(), fma(load(a, row, kk), load(b, kk, col), load(acc))));
    Stmt body =
        new Stmt.Let(
            row,
            add(mul(by, 8), div(tx, 32)),
            new Stmt.Let(
                col,
                add(mul(bx, 32), mod(tx, 32)),
                when(
                    lt(row, m),
                    alloc(
                        List.of(acc),
                        seq(
                            new Stmt.Store(acc, List.of(), load(bias, col)),
                            k,
                            new Stmt.Store(c, List.of(row, col), Exprs.max(load(acc), f32(0))))))));
    return new Kernel(
        "matmul_naive",
        Kernel.Kind.GRID,
        List.of(a, b, bias, c, new ScalarParam(m, 1, 1 << 20)),
        List.of(
            new ThreadBinding(ThreadAxis.BLOCK_X, bx, i32(8)),
            new ThreadBinding(ThreadAxis.BLOCK_Y, by, ceilDiv(m, 8)),
            new ThreadBinding(ThreadAxis.THREAD_X, tx, i32(256))),
        body,
        Attrs.NONE);
  }

  /** C = A·B with 64×64 tiles in shared memory, 4×4 elements a thread, vectors of 4. */
  static Kernel tiledMatmul() {
    Var m = Var.index("M");
    int n = 512;
    int kk = 1024;
    Buffer a = Buffer.of("A", DType.F32, Scope.GLOBAL, List.of(m, i32(kk)));
    Buffer b = Buffer.of("B", DType.F32, Scope.GLOBAL, kk, n);
    Buffer c = Buffer.of("C", DType.F32, Scope.GLOBAL, List.of(m, i32(n)));
    Buffer as = Buffer.of("aTile", DType.F32, Scope.SHARED, 64, 20);
    Buffer bs = Buffer.of("bTile", DType.F32, Scope.SHARED, 16, 64);
    Buffer acc = Buffer.of("acc", DType.F32, Scope.LOCAL, 4, 4);
    Buffer bf = Buffer.of("bFrag", DType.F32, Scope.LOCAL, 4);
    Var bx = Var.index("bx");
    Var by = Var.index("by");
    Var t = Var.index("t");
    Expr ty = div(t, 16);
    Expr tx = mod(t, 16);
    Expr aRow = div(t, 4);
    Expr aCol = mul(mod(t, 4), 4);
    Expr gRow = add(mul(by, 64), aRow);
    Stmt zero =
        loop(
            ForKind.UNROLLED,
            "i",
            4,
            i ->
                new Stmt.Store(
                    acc, List.of(i, ramp(i32(0), 4)), Exprs.zero(Type.F32.withLanes(4))));
    Stmt tiles =
        loop(
            ForKind.SERIAL,
            "k0",
            kk / 16,
            k0 ->
                seq(
                    new Stmt.Store(
                        as,
                        List.of(aRow, ramp(aCol, 4)),
                        new Expr.Select(
                            lt(gRow, m),
                            load(a, gRow, ramp(add(mul(k0, 16), aCol), 4)),
                            Exprs.zero(Type.F32.withLanes(4)))),
                    new Stmt.Store(
                        bs,
                        List.of(ty, ramp(mul(tx, 4), 4)),
                        load(b, add(mul(k0, 16), ty), ramp(add(mul(bx, 64), mul(tx, 4)), 4))),
                    evaluate(Intrinsics.SYNC_THREADS),
                    loop(
                        ForKind.UNROLLED,
                        "k",
                        16,
                        k ->
                            seq(
                                new Stmt.Store(
                                    bf, List.of(ramp(i32(0), 4)), load(bs, k, ramp(mul(tx, 4), 4))),
                                loop(
                                    ForKind.UNROLLED,
                                    "i",
                                    4,
                                    i ->
                                        loop(
                                            ForKind.UNROLLED,
                                            "j",
                                            4,
                                            j ->
                                                new Stmt.Store(
                                                    acc,
                                                    List.of(i, j),
                                                    fma(
                                                        load(as, add(mul(ty, 4), i), k),
                                                        load(bf, j),
                                                        load(acc, i, j))))))),
                    evaluate(Intrinsics.SYNC_THREADS)));
    Stmt store =
        loop(
            ForKind.UNROLLED,
            "i",
            4,
            i -> {
              Expr row = add(add(mul(by, 64), mul(ty, 4)), i);
              return when(
                  lt(row, m),
                  new Stmt.Store(
                      c,
                      List.of(row, ramp(add(mul(bx, 64), mul(tx, 4)), 4)),
                      load(acc, i, ramp(i32(0), 4))));
            });
    return new Kernel(
        "matmul_tiled",
        Kernel.Kind.GRID,
        List.of(a, b, c, new ScalarParam(m, 1, 1 << 22)),
        List.of(
            new ThreadBinding(ThreadAxis.BLOCK_X, bx, i32(n / 64)),
            new ThreadBinding(ThreadAxis.BLOCK_Y, by, ceilDiv(m, 64)),
            new ThreadBinding(ThreadAxis.THREAD_X, t, i32(256))),
        alloc(
            List.of(as, bs, acc, bf), seq(zero, new Stmt.Comment("Tiles of 16 k."), tiles, store)),
        Attrs.NONE.with("minBlocks", 2));
  }

  /** A layer of f16 with GELU: ldmatrix from swizzled shared memory, mma, packed stores. */
  static Kernel tensorCoreLayer() {
    Buffer x = Buffer.of("x", DType.F16, Scope.GLOBAL, 4096, 64);
    Buffer w = Buffer.of("layers.0.weight", DType.F16, Scope.GLOBAL, 64, 64);
    Buffer bias = Buffer.of("layers.0.bias", DType.F32, Scope.GLOBAL, 64);
    Buffer y = Buffer.of("y", DType.F16, Scope.GLOBAL, 4096, 64);
    Layout swizzled =
        new Layout(
            List.of(List.of(new Mode(64, 64)), List.of(new Mode(64, 1))), new Swizzle(3, 3, 3));
    Buffer xs = Buffer.of("x_tile", DType.F16, Scope.SHARED, 64, 64).withLayout(swizzled);
    Buffer ws = Buffer.of("w_tile", DType.F16, Scope.SHARED, 64, 64).withLayout(swizzled);
    Buffer af = Buffer.of("a", DType.U32, Scope.LOCAL, 4);
    Buffer bf = Buffer.of("b", DType.U32, Scope.LOCAL, 4);
    Buffer acc = Buffer.of("acc", DType.F32, Scope.LOCAL, 8, 4);
    Var bx = Var.index("block");
    Var tx = Var.index("thread");
    Var warp = Var.index("warp");
    Var lane = Var.index("lane");
    Stmt copyIn =
        loop(
            ForKind.UNROLLED,
            "i",
            4,
            i -> {
              Expr row = add(mul(i, 16), div(tx, 8));
              Expr col = ramp(mul(mod(tx, 8), 8), 8);
              return seq(
                  new Stmt.Store(xs, List.of(row, col), load(x, add(mul(bx, 64), row), col)),
                  new Stmt.Store(ws, List.of(row, col), load(w, row, col)));
            });
    Stmt zero =
        loop(
            ForKind.UNROLLED,
            "n",
            8,
            n ->
                loop(
                    ForKind.UNROLLED,
                    "i",
                    4,
                    i ->
                        new Stmt.Store(
                            acc,
                            List.of(n, i),
                            load(
                                bias,
                                add(
                                    add(mul(n, 8), mul(mod(lane, 4), 2)),
                                    new Expr.Binary(BinaryOp.BIT_AND, i, i32(1)))))));
    Stmt products =
        loop(
            ForKind.UNROLLED,
            "k",
            4,
            k ->
                seq(
                    evaluate(
                        Intrinsics.LDMATRIX_X4,
                        at(af, i32(0)),
                        at(
                            xs,
                            add(mul(warp, 16), mod(lane, 16)),
                            add(mul(k, 16), mul(div(lane, 16), 8)))),
                    loop(
                        ForKind.UNROLLED,
                        "n",
                        4,
                        n ->
                            seq(
                                evaluate(
                                    Intrinsics.LDMATRIX_X4_TRANS,
                                    at(bf, i32(0)),
                                    at(
                                        ws,
                                        add(mul(k, 16), mod(lane, 16)),
                                        add(mul(n, 16), mul(div(lane, 16), 8)))),
                                evaluate(
                                    Intrinsics.MMA_M16N8K16_F16,
                                    at(acc, mul(n, 2), i32(0)),
                                    at(af, i32(0)),
                                    at(bf, i32(0))),
                                evaluate(
                                    Intrinsics.MMA_M16N8K16_F16,
                                    at(acc, add(mul(n, 2), 1), i32(0)),
                                    at(af, i32(0)),
                                    at(bf, i32(2)))))));
    Stmt store =
        loop(
            ForKind.UNROLLED,
            "n",
            8,
            n ->
                loop(
                    ForKind.UNROLLED,
                    "h",
                    2,
                    h ->
                        new Stmt.Store(
                            y,
                            List.of(
                                add(add(add(mul(bx, 64), mul(warp, 16)), div(lane, 4)), mul(h, 8)),
                                ramp(add(mul(n, 8), mul(mod(lane, 4), 2)), 2)),
                            new Expr.Bitcast(
                                Type.F16.withLanes(2),
                                new Expr.Call(
                                    Intrinsics.PACK_F16X2,
                                    List.of(
                                        gelu(load(acc, n, mul(h, 2))),
                                        gelu(load(acc, n, add(mul(h, 2), 1)))),
                                    Type.U32)))));
    Stmt body =
        new Stmt.Let(
            warp,
            div(tx, 32),
            new Stmt.Let(
                lane,
                mod(tx, 32),
                alloc(
                    List.of(xs, ws, af, bf, acc),
                    seq(copyIn, zero, evaluate(Intrinsics.SYNC_THREADS), products, store))));
    return new Kernel(
        "layer_f16",
        Kernel.Kind.GRID,
        List.of(x, w, bias, y),
        List.of(
            new ThreadBinding(ThreadAxis.BLOCK_X, bx, i32(64)),
            new ThreadBinding(ThreadAxis.THREAD_X, tx, i32(128))),
        body,
        Attrs.NONE);
  }

  static Expr at(Buffer buffer, Expr... indices) {
    return new Expr.AddressOf(buffer, List.of(indices));
  }

  static Expr ramp(Expr base, int lanes) {
    return new Expr.Ramp(base, 1, lanes);
  }

  static Expr round(Expr x) {
    TargetIntrinsic rna = Intrinsics.CVT_RNA_TF32;
    return new Expr.Call(rna, List.of(x), Type.U32);
  }

  /** {@code 0.5·x·(1 + erf(x / √2))}. */
  private static Expr gelu(Expr x) {
    return mul2(
        mul2(f32(0.5), x),
        new Expr.Binary(
            BinaryOp.ADD, f32(1), Exprs.call(MathOp.ERF, mul2(x, f32(Math.sqrt(0.5))))));
  }

  private static Expr mul2(Expr a, Expr b) {
    return new Expr.Binary(BinaryOp.MUL, a, b);
  }

  /** Widths that a cast to f16 and back goes through, by vectors. */
  static Kernel vectorCasts() {
    Buffer x = Buffer.of("x", DType.F16, Scope.GLOBAL, 1024);
    Buffer y = Buffer.of("y", DType.BF16, Scope.GLOBAL, 1024);
    Var t = Var.index("t");
    Expr at = ramp(mul(t, 4), 4);
    Expr wide = cast(DType.F32, load(x, at));
    Expr scaled = new Expr.Binary(BinaryOp.MUL, wide, new Expr.Broadcast(f32(0.1), 4));
    return new Kernel(
        "vector_casts",
        Kernel.Kind.GRID,
        List.of(x, y),
        List.of(new ThreadBinding(ThreadAxis.THREAD_X, t, i32(256))),
        new Stmt.Store(y, List.of(at), cast(DType.BF16, scaled)),
        Attrs.NONE);
  }
}
