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
import dev.warpwright.lower.gpu.GlobalRuns;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;
import java.util.Map;

/**
 * Row reductions in shared memory: a warp takes a row at a time, its lanes every 32nd element, then
 * the lanes combine by exchanging registers. Where there are at most half as many rows as warps,
 * several warps share one, and what each has meets in shared memory.
 */
final class ReduceLowering {
  /** Elements of a thread's part of a row that are under way at once. */
  private static final int MOST_UNROLLED = 32;

  private static final List<Expr> CELL = List.of(Exprs.i32(0));

  private final ThreadCode code;

  /** What each warp has of its row. */
  private final Buffer parts;

  private boolean isShared;

  ReduceLowering(ThreadCode code) {
    this.code = code;
    this.parts = Buffer.of("parts", DType.F32, Scope.SHARED, code.warps());
  }

  /** The body with what its reductions need in shared memory. */
  Stmt around(Stmt body) {
    return isShared ? new Stmt.Alloc(parts, body) : body;
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
    if (2 * rows <= code.warps() && code.warps() % rows == 0) {
      return shared(reduce, length, (int) (code.warps() / rows));
    }
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

  /** A row for so many warps. */
  private Stmt shared(Stmt.TileReduce reduce, long length, int each) {
    Var row = Var.index("row");
    Buffer partial = Buffer.of("partial", DType.F32, Scope.LOCAL, 1);
    Expr sum = new Expr.Load(partial, CELL);
    isShared = true;
    // A reduction before it may still be reading its parts.
    Stmt own =
        Stmts.seq(
            Exprs.evaluate(Intrinsics.SYNC_THREADS),
            gathered(reduce, row, length, partial, each),
            new Stmt.If(
                Exprs.eq(code.lane(), Exprs.i32(0)),
                new Stmt.Store(parts, List.of(code.warp()), sum),
                null),
            Exprs.evaluate(Intrinsics.SYNC_THREADS));
    Expr all = new Expr.Load(parts, List.of(Exprs.mul(row, each)));
    for (int part = 1; part < each; part++) {
      Expr at = Exprs.add(Exprs.mul(row, each), part);
      all = reduce.op().combine(all, new Expr.Load(parts, List.of(at)));
    }
    Expr first = Exprs.eq(Exprs.mod(code.warp(), each), Exprs.i32(0));
    Stmt write =
        new Stmt.If(
            Exprs.eq(code.lane(), Exprs.i32(0)),
            new Stmt.If(first, to(reduce, row, all), null),
            null);
    return new Stmt.Let(
        row, Exprs.div(code.warp(), each), new Stmt.Alloc(partial, Stmts.seq(own, write)));
  }

  private Stmt row(Stmt.TileReduce reduce, Var row, long length) {
    Buffer partial = Buffer.of("partial", DType.F32, Scope.LOCAL, 1);
    Expr sum = new Expr.Load(partial, CELL);
    Stmt write = new Stmt.If(Exprs.eq(code.lane(), Exprs.i32(0)), to(reduce, row, sum), null);
    return new Stmt.Alloc(partial, Stmts.seq(gathered(reduce, row, length, partial, 1), write));
  }

  /** Adds to what the row has. */
  private static Stmt to(Stmt.TileReduce reduce, Var row, Expr value) {
    List<Expr> to =
        reduce.indices().stream()
            .map(Substitution.ofVars(Map.of(reduce.vars().getFirst(), row))::expr)
            .toList();
    return new Stmt.Store(
        reduce.to(), to, reduce.op().combine(new Expr.Load(reduce.to(), to), value));
  }

  /** What a warp has of a row that so many share, in each of its lanes. */
  private Stmt gathered(Stmt.TileReduce reduce, Var row, long length, Buffer partial, int sharing) {
    Expr sum = new Expr.Load(partial, CELL);
    long stride = 32L * sharing;
    Expr thread =
        sharing == 1
            ? code.lane()
            : Exprs.add(Exprs.mul(Exprs.mod(code.warp(), sharing), 32), code.lane());
    Expr value = Substitution.ofVars(Map.of(reduce.vars().getFirst(), row)).expr(reduce.value());
    Var column = reduce.reduceVars().getFirst();
    GlobalRuns runs = GlobalRuns.of(value, column, length, (int) stride);
    long steps = Math.ceilDiv(length, runs.lanes() * stride);
    Stmt gather =
        Stmts.loop(
            ThreadCode.comesFromMemory(value) && steps <= MOST_UNROLLED
                ? ForKind.UNROLLED
                : ForKind.SERIAL,
            "step",
            steps,
            step -> {
              Expr k = Exprs.add(Exprs.mul(step, (int) stride), thread);
              Stmt add =
                  runs.at(
                      Exprs.mul(k, runs.lanes()),
                      (v, element) ->
                          new Stmt.Store(partial, CELL, reduce.op().combine(sum, element)));
              return length % stride == 0
                  ? add
                  : new Stmt.If(Exprs.lt(k, Exprs.i32(length)), add, null);
            });
    Stmt exchange = Stmt.Seq.EMPTY;
    for (int distance = 16; distance >= 1; distance /= 2) {
      Expr other =
          new Expr.Call(Intrinsics.SHFL_XOR_F32, List.of(sum, Exprs.i32(distance)), Type.F32);
      exchange =
          Stmts.seq(exchange, new Stmt.Store(partial, CELL, reduce.op().combine(sum, other)));
    }
    return Stmts.seq(
        new Stmt.Store(partial, CELL, reduce.op().identity(Type.F32)), gather, exchange);
  }

  private static long constant(Expr extent) {
    if (extent instanceof Expr.IntImm imm) {
      return imm.value();
    }
    throw new LoweringException("a reduction has the extent " + extent + ", which is not constant");
  }
}
