package dev.warpwright.lower.host;

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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reductions as loops, the innermost one in vectors of partial results where possible. */
final class HostReduceLowering {
  private final int lanes;

  HostReduceLowering(int lanes) {
    this.lanes = lanes;
  }

  Stmt lower(Stmt.TileReduce r) {
    List<String> names = new ArrayList<>();
    for (int d = 0; d < r.extents().size(); d++) {
      names.add("i" + d);
    }
    return RowLoops.nest(
        names,
        r.extents(),
        at -> {
          Map<Var, Expr> values = new HashMap<>();
          for (int d = 0; d < at.size(); d++) {
            values.put(r.vars().get(d), at.get(d));
          }
          Substitution bind = Substitution.ofVars(values);
          List<Expr> to = r.indices().stream().map(bind::expr).toList();
          return point(r, to, bind.expr(r.value()));
        });
  }

  private Stmt point(Stmt.TileReduce r, List<Expr> to, Expr value) {
    List<String> names = new ArrayList<>();
    for (int d = 0; d < r.reduceExtents().size(); d++) {
      names.add("k" + d);
    }
    int last = names.size() - 1;
    List<Var> outerVars = r.reduceVars().subList(0, last);
    return RowLoops.nest(
        names.subList(0, last),
        r.reduceExtents().subList(0, last),
        outer -> {
          Map<Var, Expr> values = new HashMap<>();
          for (int d = 0; d < outer.size(); d++) {
            values.put(outerVars.get(d), outer.get(d));
          }
          Expr row = Substitution.ofVars(values).expr(value);
          return row(r, to, row, r.reduceVars().getLast(), r.reduceExtents().getLast());
        });
  }

  private Stmt row(Stmt.TileReduce r, List<Expr> to, Expr value, Var k, Expr extent) {
    Stmt serial = Stmt.For.of(ForKind.SERIAL, k, extent, combine(r, to, value));
    if (lanes == 1
        || r.to().dtype() != DType.F32
        || !(extent instanceof Expr.IntImm imm)
        || imm.value() < 2L * lanes) {
      return serial;
    }
    long count = imm.value();
    Buffer partial = Buffer.of("partial", DType.F32, Scope.LOCAL, lanes);
    Buffer spill = Buffer.of("spill", DType.F32, Scope.LOCAL, lanes);
    Var block = Var.index("kv");
    Var lane = Var.index("l");
    Expr ramp = new Expr.Ramp(Exprs.i32(0), 1, lanes);
    Expr shifted =
        Substitution.ofVars(Map.of(k, Exprs.add(Exprs.mul(block, lanes), lane))).expr(value);
    Stmt.For step =
        Stmt.For.of(
            ForKind.VECTORIZED,
            lane,
            Exprs.i32(lanes),
            new Stmt.Store(
                partial, List.of(lane), r.op().combine(Exprs.load(partial, lane), shifted)));
    if (RowLoops.refused(step)) {
      return serial;
    }
    Var each = Var.index("l");
    List<Stmt> stmts = new ArrayList<>();
    stmts.add(
        new Stmt.Store(
            partial, List.of(ramp), new Expr.Broadcast(r.op().identity(Type.F32), lanes)));
    stmts.add(Stmt.For.of(ForKind.SERIAL, block, Exprs.i32(count / lanes), step));
    stmts.add(new Stmt.Store(spill, List.of(ramp), Exprs.load(partial, ramp)));
    stmts.add(
        Stmt.For.of(
            ForKind.SERIAL, each, Exprs.i32(lanes), combine(r, to, Exprs.load(spill, each))));
    long rest = count % lanes;
    if (rest > 0) {
      Var tail = Var.index(k.name());
      Expr shiftedTail = Substitution.ofVars(Map.of(k, Exprs.add(tail, count - rest))).expr(value);
      stmts.add(Stmt.For.of(ForKind.SERIAL, tail, Exprs.i32(rest), combine(r, to, shiftedTail)));
    }
    return Stmts.alloc(List.of(partial, spill), Stmts.seq(stmts));
  }

  private static Stmt combine(Stmt.TileReduce r, List<Expr> to, Expr value) {
    return new Stmt.Store(r.to(), to, r.op().combine(new Expr.Load(r.to(), to), value));
  }
}
