package dev.warpwright.lower.pass;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Folding;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One loop's body with the iterations as lanes. */
final class Lanes {
  /** The body cannot be vectorized, and why. */
  static final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refusal(String reason) {
      super(reason, null, false, false);
    }
  }

  private final int lanes;

  /** What stands for the variables that differ between lanes. */
  private final Map<Var, Expr> values = new HashMap<>();

  Lanes(Var v, Expr min, int lanes) {
    this.lanes = lanes;
    values.put(v, lanes == 1 ? min : new Expr.Ramp(min, 1, lanes));
  }

  // ---- statements --------------------------------------------------------------------------

  Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> Stmts.seq(stmts.stream().map(this::stmt).toList());
      case Stmt.For f -> {
        Expr min = uniform(f.min(), "the bounds of the loop over " + f.var());
        Expr extent = uniform(f.extent(), "the bounds of the loop over " + f.var());
        yield new Stmt.For(f.var(), min, extent, f.kind(), f.axis(), f.attrs(), stmt(f.body()));
      }
      case Stmt.If(Expr condition, Stmt then, Stmt otherwise) ->
          new Stmt.If(
              uniform(condition, "a condition"),
              stmt(then),
              otherwise == null ? null : stmt(otherwise));
      case Stmt.Let(Var v, Expr value, Stmt body) -> {
        Expr vector = expr(value);
        Var bound = v;
        if (!vector.type().equals(v.type())) {
          bound = new Var(v.name(), vector.type());
          values.put(v, bound);
        }
        yield new Stmt.Let(bound, vector, stmt(body));
      }
      case Stmt.Store store -> store(store);
      case Stmt.Comment c -> c;
      case Stmt.Alloc a -> throw new Refusal("it allocates " + a.buffer().name());
      case Stmt.While w -> throw new Refusal("it contains a while loop");
      case Stmt.Evaluate e -> throw new Refusal("it calls " + e.call().op().text());
      case Stmt.Block b -> throw new Refusal("it contains the block " + b.name());
      case Stmt.TileCopy t -> throw new Refusal("it contains a tile copy");
      case Stmt.TileFill t -> throw new Refusal("it contains a tile fill");
      case Stmt.TileMma t -> throw new Refusal("it contains a tile mma");
      case Stmt.TileMap t -> throw new Refusal("it contains a tile map");
      case Stmt.TileReduce t -> throw new Refusal("it contains a tile reduce");
      case Stmt.Flow t -> throw new Refusal("it contains a pipe, role or signal");
    };
  }

  private Stmt store(Stmt.Store store) {
    List<Expr> indices = indices(store.buffer(), store.indices());
    Expr value = expr(store.value());
    if (lanes > 1 && (indices.isEmpty() || indices.getLast().type().isScalar())) {
      throw new Refusal("every iteration stores to the same element of " + store.buffer().name());
    }
    return new Stmt.Store(store.buffer(), indices, widened(value));
  }

  private Expr uniform(Expr e, String what) {
    Expr rewritten = expr(e);
    if (!rewritten.type().isScalar()) {
      throw new Refusal(what + " depends on it");
    }
    return rewritten;
  }

  // ---- expressions -------------------------------------------------------------------------

  private Expr expr(Expr e) {
    return switch (e) {
      case Var v -> values.getOrDefault(v, v);
      case Expr.IntImm imm -> imm;
      case Expr.FloatImm imm -> imm;
      case Expr.Binary(BinaryOp op, Expr a, Expr b) -> binary(op, expr(a), expr(b));
      case Expr.Unary(var op, Expr a) -> new Expr.Unary(op, expr(a));
      case Expr.Select s -> select(s);
      case Expr.Cast(Type type, Expr a) -> {
        Expr value = expr(a);
        yield new Expr.Cast(type.withLanes(value.type().lanes()), value);
      }
      case Expr.Bitcast(Type type, Expr a) -> {
        Expr value = expr(a);
        if (!value.type().isScalar() && value.type().dtype().bits() != type.dtype().bits()) {
          throw new Refusal("it reinterprets elements of another width");
        }
        yield new Expr.Bitcast(type.withLanes(value.type().lanes()), value);
      }
      case Expr.Load(Buffer buffer, List<Expr> indices) ->
          new Expr.Load(buffer, indices(buffer, indices));
      case Expr.AddressOf a -> throw new Refusal("it takes an address");
      case Expr.Ramp r -> throw new Refusal("its body has vectors already");
      case Expr.Broadcast b -> throw new Refusal("its body has vectors already");
      case Expr.Call(var op, List<Expr> args, Type type) -> {
        if (op instanceof Intrinsic) {
          throw new Refusal("it calls " + op.text());
        }
        List<Expr> vectors = unify(args.stream().map(this::expr).toList());
        yield new Expr.Call(op, vectors, type.withLanes(vectors.getFirst().type().lanes()));
      }
    };
  }

  private Expr binary(BinaryOp op, Expr a, Expr b) {
    if (a instanceof Expr.Ramp(Expr base, long stride, int n) && b.type().isScalar()) {
      if (op == BinaryOp.ADD) {
        return new Expr.Ramp(Exprs.add(base, b), stride, n);
      }
      if (op == BinaryOp.SUB) {
        return new Expr.Ramp(Exprs.sub(base, b), stride, n);
      }
      if (op == BinaryOp.MUL && b instanceof Expr.IntImm imm) {
        return new Expr.Ramp(Exprs.mul(base, b), stride * imm.value(), n);
      }
    }
    if (b instanceof Expr.Ramp
        && a.type().isScalar()
        && (op == BinaryOp.ADD || op == BinaryOp.MUL)) {
      return binary(op, b, a);
    }
    if (a.type().isScalar() && b.type().isScalar()) {
      return a.type().dtype().isInt()
          ? Folding.binary(new Expr.Binary(op, a, b))
          : new Expr.Binary(op, a, b);
    }
    return new Expr.Binary(op, widened(a), widened(b));
  }

  private Expr select(Expr.Select s) {
    Expr condition = expr(s.condition());
    Expr then = expr(s.then());
    Expr otherwise = expr(s.otherwise());
    if (condition.type().isScalar() && then.type().isScalar() && otherwise.type().isScalar()) {
      return new Expr.Select(condition, then, otherwise);
    }
    // Lanes evaluate both sides, and a load on the side that is not chosen may be out of bounds.
    if (loads(s.then()) || loads(s.otherwise())) {
      throw new Refusal("a select guards a load");
    }
    return new Expr.Select(widened(condition), widened(then), widened(otherwise));
  }

  private static boolean loads(Expr e) {
    boolean[] found = {false};
    Walk.expressions(e, x -> found[0] |= x instanceof Expr.Load);
    return found[0];
  }

  private List<Expr> indices(Buffer buffer, List<Expr> indices) {
    List<Expr> result = new ArrayList<>();
    for (int i = 0; i < indices.size(); i++) {
      Expr index = expr(indices.get(i));
      if (!index.type().isScalar()) {
        boolean last = i == indices.size() - 1;
        if (!last || !(index instanceof Expr.Ramp ramp) || ramp.stride() != 1) {
          throw new Refusal("its accesses to " + buffer.name() + " are not consecutive elements");
        }
      }
      result.add(index);
    }
    return result;
  }

  private List<Expr> unify(List<Expr> args) {
    boolean scalar = args.stream().allMatch(a -> a.type().isScalar());
    return scalar ? args : args.stream().map(this::widened).toList();
  }

  private Expr widened(Expr e) {
    return e.type().isScalar() && lanes > 1 ? new Expr.Broadcast(e, lanes) : e;
  }
}
