package dev.warpwright.lower.block;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;
import java.util.Map;

/**
 * Row reductions in shared memory: a warp takes a row at a time, its lanes every 32nd element, then
 * the lanes combine by exchanging registers.
 */
final class ReduceLowering {
  private final ThreadCode code;

  ReduceLowering(ThreadCode code) {
    this.code = code;
  }

  Stmt reduce(Stmt.TileReduce reduce) {
    if (reduce.vars().size() != 1
        || reduce.reduceVars().size() != 1
        || reduce.to().scope() != Scope.SHARED
        || reduce.to().dtype() != DType.F32) {
      throw new LoweringException(
          "reduction to " + reduce.to().name() + " is not one f32 for each row in shared memory");
    }
    if (code.threads() % 32 != 0) {
      throw new LoweringException(
          "a reduction needs whole warps, not " + code.threads() + " threads");
    }
    long rows = constant(reduce.extents().getFirst());
    long length = constant(reduce.reduceExtents().getFirst());
    long rounds = Math.ceilDiv(rows, code.warps());
    return Stmts.loop(
        ForKind.SERIAL,
        "round",
        rounds,
        round -> {
          Var row = Var.index("row");
          Stmt body = row(reduce, row, length);
          Expr value = Exprs.add(Exprs.mul(round, code.warps()), code.warp());
          Stmt guarded =
              rows % code.warps() == 0
                  ? body
                  : new Stmt.If(Exprs.lt(row, Exprs.i32(rows)), body, null);
          return new Stmt.Let(row, value, guarded);
        });
  }

  private Stmt row(Stmt.TileReduce reduce, Var row, long length) {
    Buffer partial = Buffer.of("partial", DType.F32, Scope.LOCAL, 1);
    List<Expr> cell = List.of(Exprs.i32(0));
    Expr sum = new Expr.Load(partial, cell);
    Stmt gather =
        Stmts.loop(
            ForKind.SERIAL,
            "step",
            Math.ceilDiv(length, 32),
            step -> {
              Expr k = Exprs.add(Exprs.mul(step, 32), code.lane());
              Expr value =
                  Substitution.ofVars(
                          Map.of(reduce.vars().getFirst(), row, reduce.reduceVars().getFirst(), k))
                      .expr(reduce.value());
              Stmt add = new Stmt.Store(partial, cell, reduce.op().combine(sum, value));
              return length % 32 == 0
                  ? add
                  : new Stmt.If(Exprs.lt(k, Exprs.i32(length)), add, null);
            });
    Stmt exchange = Stmt.Seq.EMPTY;
    for (int distance = 16; distance >= 1; distance /= 2) {
      Expr other =
          new Expr.Call(Intrinsics.SHFL_XOR_F32, List.of(sum, Exprs.i32(distance)), Type.F32);
      exchange =
          Stmts.seq(exchange, new Stmt.Store(partial, cell, reduce.op().combine(sum, other)));
    }
    List<Expr> to =
        reduce.indices().stream()
            .map(Substitution.ofVars(Map.of(reduce.vars().getFirst(), row))::expr)
            .toList();
    Stmt write =
        new Stmt.If(
            Exprs.eq(code.lane(), Exprs.i32(0)),
            new Stmt.Store(
                reduce.to(), to, reduce.op().combine(new Expr.Load(reduce.to(), to), sum)),
            null);
    return new Stmt.Alloc(
        partial,
        Stmts.seq(
            new Stmt.Store(partial, cell, reduce.op().identity(Type.F32)),
            gather,
            exchange,
            write));
  }

  private static long constant(Expr extent) {
    if (extent instanceof Expr.IntImm imm) {
      return imm.value();
    }
    throw new LoweringException("a reduction has the extent " + extent + ", which is not constant");
  }
}
