package dev.warpwright.lower.block;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.MMajor;
import dev.warpwright.lower.gpu.ThreadCode;
import java.util.List;

/**
 * GEMMs by fma of a first operand that lies with its rows side by side ({@link MMajor}): both
 * operands of a step come by accesses of 16 bytes, and a thread multiplies all by all, every second
 * row backwards, the first one too (64 × 4 in f32: 664.5 µs; odd rows 667).
 */
final class MMajorProducts {
  /** Steps of K that are written out where nothing is said: more do not fit the L0 cache. */
  private static final long STEPS = 16;

  private final ThreadCode code;

  MMajorProducts(ThreadCode code) {
    this.code = code;
  }

  Stmt product(Stmt.TileMma mma) {
    FragmentLayout layout = code.layout(mma.c().buffer());
    List<Digit> digits = layout.registerDigits();
    int vec = (int) digits.get(0).extent();
    int runs = (int) digits.get(1).extent();
    int rows = (int) digits.get(2).extent();
    int groups = (int) digits.get(3).extent();
    Buffer from = mma.b().buffer();
    MmaLowering.require(
        mma, MMajor.is(mma.a().buffer()), "needs its first operand with rows side by side");
    MmaLowering.require(
        mma, mma.a().tile().size() == 2 && !mma.transposeA(), "needs a matrix of rows");
    MmaLowering.require(
        mma,
        vec == MMajor.VECTOR
            && rows == MMajor.VECTOR
            && !mma.transposeB()
            && from.scope() == Scope.SHARED
            && from.dtype() == DType.F32
            && from.layout() == null
            && from.extent(from.rank() - 1) % vec == 0,
        "needs four rows by four columns a thread, and rows of weights in shared memory");
    Buffer a = Buffer.of("a_frag", DType.F32, Scope.LOCAL, (long) groups * rows);
    Buffer b = Buffer.of("b_frag", DType.F32, Scope.LOCAL, (long) runs * vec);
    Buffer c = code.registers(mma.c().buffer());
    Var row = Var.index("row");
    Var col = Var.index("col");
    Var k = Var.index("k");
    Stmt loadA =
        Stmts.loop(
            ForKind.UNROLLED,
            "h",
            groups,
            h -> {
              Expr first = Exprs.add(row, Exprs.mul(h, digits.get(3).rowStep()));
              return MMajor.load(
                  code,
                  a,
                  Exprs.mul(h, rows),
                  mma.a().buffer(),
                  Guards.indices(mma.a(), List.of(first, k)));
            });
    Stmt loadB =
        Stmts.loop(
            ForKind.UNROLLED,
            "s",
            runs,
            s ->
                ThreadCode.move(
                    b,
                    List.of(Exprs.mul(s, vec)),
                    from,
                    Guards.indices(
                        mma.b(), List.of(k, Exprs.add(col, Exprs.mul(s, digits.get(1).colStep())))),
                    vec));
    long columns = (long) runs * vec;
    Stmt multiply =
        Stmts.loop(
            ForKind.UNROLLED,
            "r",
            (long) groups * rows,
            r ->
                Stmts.loop(
                    ForKind.UNROLLED,
                    "n",
                    columns,
                    n -> {
                      Expr back = Exprs.eq(Exprs.mod(r, 2), Exprs.i32(0));
                      Expr column = Exprs.select(back, Exprs.sub(Exprs.i32(columns - 1), n), n);
                      List<Expr> at = List.of(Exprs.add(Exprs.mul(r, columns), column));
                      Expr product =
                          Exprs.fma(Exprs.load(a, r), Exprs.load(b, column), new Expr.Load(c, at));
                      return new Stmt.Store(c, at, product);
                    }));
    Stmt steps =
        Stmt.For.of(
                ForKind.SERIAL,
                k,
                Exprs.i32(Guards.extent(mma.a().tile().get(1))),
                Stmts.alloc(List.of(a, b), Stmts.seq(loadA, loadB, multiply)))
            .withAttrs(
                Attrs.NONE
                    .with("unroll", mma.attrs().getLong("unrollK", STEPS))
                    .with(Attrs.POINTERS, 1));
    return new Stmt.Let(
        row,
        layout.rowOfThread(code.thread()),
        new Stmt.Let(col, layout.colOfThread(code.thread()), steps));
  }
}
