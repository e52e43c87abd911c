package dev.warpwright.sim.lane;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * What statements do beyond their own lane's registers. Lanes of a warp execute each statement
 * together; where they do not see what the others do, one lane may execute many statements before
 * the next lane does.
 */
final class LaneEffects {
  private final Set<Buffer> loaded = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<Buffer> stored = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<Var> variables = Collections.newSetFromMap(new IdentityHashMap<>());
  private boolean together;

  /** Whether the lanes may execute all of it one after the other. */
  boolean laneByLane() {
    return !together && Collections.disjoint(loaded, stored);
  }

  /** Variables that are used. */
  Set<Var> variables() {
    return variables;
  }

  /** Whether the same holds with what follows. */
  boolean laneByLaneWith(LaneEffects next) {
    return laneByLane()
        && next.laneByLane()
        && Collections.disjoint(loaded, next.stored)
        && Collections.disjoint(stored, next.loaded)
        && Collections.disjoint(stored, next.stored);
  }

  void add(LaneEffects next) {
    loaded.addAll(next.loaded);
    stored.addAll(next.stored);
    variables.addAll(next.variables);
    together |= next.together;
  }

  static LaneEffects of(Stmt s) {
    LaneEffects effects = new LaneEffects();
    effects.statement(s, false);
    return effects;
  }

  static LaneEffects of(Expr e) {
    LaneEffects effects = new LaneEffects();
    effects.expression(e);
    return effects;
  }

  private void statement(Stmt s, boolean repeated) {
    switch (s) {
      case Stmt.Seq seq -> seq.stmts().forEach(part -> statement(part, repeated));
      case Stmt.For loop -> {
        expression(loop.min());
        expression(loop.extent());
        statement(loop.body(), true);
      }
      case Stmt.If i -> {
        expression(i.condition());
        statement(i.then(), repeated);
        if (i.otherwise() != null) {
          statement(i.otherwise(), repeated);
        }
      }
      case Stmt.Let l -> {
        expression(l.value());
        statement(l.body(), repeated);
      }
      case Stmt.Alloc a -> statement(a.body(), repeated);
      case Stmt.Store store -> {
        store.indices().forEach(this::expression);
        expression(store.value());
        Buffer buffer = store.buffer();
        if (buffer.scope() != Scope.LOCAL) {
          // Two stores to one element keep their order only if no lane gets ahead.
          together |= repeated || !stored.add(buffer);
        }
      }
      case Stmt.Comment _ -> {}
      case Stmt.Evaluate e -> {
        expression(e.call());
        together = true;
      }
      case Stmt.While _,
          Stmt.Block _,
          Stmt.TileCopy _,
          Stmt.TileFill _,
          Stmt.TileMma _,
          Stmt.TileMap _,
          Stmt.TileReduce _,
          Stmt.Flow _ ->
          together = true;
    }
  }

  private void expression(Expr e) {
    Walk.expressions(
        e,
        part -> {
          switch (part) {
            case Var v -> variables.add(v);
            case Expr.Load load -> {
              if (load.buffer().scope() != Scope.LOCAL) {
                loaded.add(load.buffer());
              }
            }
            case Expr.Call call -> together |= !ownLane(call);
            default -> {}
          }
        });
  }

  /** Whether a lane computes the value for itself, from its own registers. */
  private static boolean ownLane(Expr.Call call) {
    return call.op() instanceof MathOp
        || (call.op() instanceof TargetIntrinsic intrinsic
            && intrinsic.collective() == TargetIntrinsic.Collective.THREAD
            && intrinsic.effect() instanceof TargetIntrinsic.Computes);
  }
}
