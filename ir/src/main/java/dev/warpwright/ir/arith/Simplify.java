package dev.warpwright.ir.arith;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Simplifies statements with what loops, launch indices, lets and conditions say about variables.
 * Branches whose condition is decided, loops without iterations and empty sequences disappear;
 * loops of one iteration are written out, except {@code parallel} and {@code bind}, which say where
 * a thread begins.
 */
public final class Simplify extends Rewriter {
  private Bounds bounds;

  private Simplify(Bounds bounds) {
    this.bounds = bounds;
  }

  public static Stmt stmt(Stmt s, Bounds bounds) {
    return new Simplify(bounds).stmt(s);
  }

  public static PrimFunc primFunc(PrimFunc f) {
    return f.withBody(stmt(f.body(), ofParams(f.params())));
  }

  public static Kernel kernel(Kernel k) {
    return k.withBody(stmt(k.body(), ofKernel(k)));
  }

  /** The ranges of scalar parameters. */
  public static Bounds ofParams(List<? extends Param> params) {
    Bounds bounds = Bounds.NONE;
    for (Param param : params) {
      if (param instanceof ScalarParam scalar) {
        bounds = bounds.with(scalar.var(), new Interval(scalar.min(), scalar.max()));
      }
    }
    return bounds;
  }

  /** The ranges of a kernel's parameters and launch indices. */
  public static Bounds ofKernel(Kernel k) {
    Bounds bounds = ofParams(k.params());
    for (ThreadBinding binding : k.bindings()) {
      bounds = bounds.withRange(binding.var(), Exprs.i32(0), binding.extent());
    }
    return bounds;
  }

  private <T> T under(Bounds inner, Supplier<T> rewrite) {
    Bounds outer = bounds;
    bounds = inner;
    try {
      return rewrite.get();
    } finally {
      bounds = outer;
    }
  }

  @Override
  public Expr expr(Expr e) {
    return new Simplifier(bounds).expr(e);
  }

  @Override
  public Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Seq seq -> sequence(seq);
      case Stmt.For f -> loop(f);
      case Stmt.While w -> {
        Stmt result = super.stmt(w);
        yield result instanceof Stmt.While(Expr condition, Stmt body) && Exprs.isConst(condition, 0)
            ? Stmt.Seq.EMPTY
            : result;
      }
      case Stmt.If i -> branch(i);
      case Stmt.Let let -> let(let);
      case Stmt.Alloc(var buffer, Stmt body) -> {
        Stmt newBody = stmt(body);
        yield isEmpty(newBody)
            ? Stmt.Seq.EMPTY
            : newBody == body ? s : new Stmt.Alloc(buffer, newBody);
      }
      case Stmt.Block b -> block(b);
      case Stmt.TileMap m -> {
        Bounds inner = box(bounds, m.vars(), m.extents());
        List<Expr> extents = exprs(m.extents());
        List<Stmt.Store> stores =
            under(inner, () -> each(m.stores(), store -> (Stmt.Store) super.stmt(store)));
        yield extents == m.extents() && stores == m.stores()
            ? m
            : new Stmt.TileMap(m.vars(), extents, stores, m.attrs());
      }
      case Stmt.TileReduce r -> {
        Bounds inner = box(box(bounds, r.vars(), r.extents()), r.reduceVars(), r.reduceExtents());
        List<Expr> extents = exprs(r.extents());
        List<Expr> reduceExtents = exprs(r.reduceExtents());
        List<Expr> indices = under(inner, () -> exprs(r.indices()));
        Expr value = under(inner, () -> expr(r.value()));
        yield extents == r.extents()
                && reduceExtents == r.reduceExtents()
                && indices == r.indices()
                && value == r.value()
            ? r
            : new Stmt.TileReduce(
                r.op(),
                r.vars(),
                extents,
                r.reduceVars(),
                reduceExtents,
                r.to(),
                indices,
                value,
                r.attrs());
      }
      case Stmt.Store store -> super.stmt(store);
      case Stmt.Evaluate e -> super.stmt(e);
      case Stmt.Comment c -> c;
      case Stmt.TileCopy c -> super.stmt(c);
      case Stmt.TileFill f -> super.stmt(f);
      case Stmt.TileMma m -> super.stmt(m);
      case Stmt.Flow.Roles roles -> roles(roles);
      // What waits, waits also where it does nothing with what it gets.
      case Stmt.Flow flow -> super.stmt(flow);
    };
  }

  private Stmt roles(Stmt.Flow.Roles s) {
    List<Role> roles =
        each(
            s.roles(),
            role -> {
              Var instance = role.instance();
              Bounds inner =
                  instance == null
                      ? bounds
                      : bounds.withRange(instance, Exprs.i32(0), Exprs.i32(role.instances()));
              return role.withBody(under(inner, () -> stmt(role.body())));
            });
    return roles == s.roles() ? s : new Stmt.Flow.Roles(roles);
  }

  private static Bounds box(Bounds bounds, List<Var> vars, List<Expr> extents) {
    Bounds inner = bounds;
    for (int i = 0; i < vars.size(); i++) {
      inner = inner.withRange(vars.get(i), Exprs.i32(0), extents.get(i));
    }
    return inner;
  }

  private static boolean isEmpty(Stmt s) {
    return s instanceof Stmt.Seq(List<Stmt> stmts) && stmts.isEmpty();
  }

  private Stmt sequence(Stmt.Seq seq) {
    List<Stmt> stmts = each(seq.stmts(), this::stmt);
    boolean flat = stmts.size() != 1 && stmts.stream().noneMatch(Stmt.Seq.class::isInstance);
    if (flat) {
      return stmts == seq.stmts() ? seq : new Stmt.Seq(stmts);
    }
    return Stmts.seq(stmts);
  }

  private Stmt loop(Stmt.For f) {
    Expr min = expr(f.min());
    Expr extent = expr(f.extent());
    if (bounds.of(extent).max() <= 0) {
      return Stmt.Seq.EMPTY;
    }
    if (Exprs.isConst(extent, 1)
        && f.kind() != ForKind.PARALLEL
        && f.kind() != ForKind.THREAD_BOUND) {
      return stmt(Substitution.ofVars(Map.of(f.var(), min)).stmt(f.body()));
    }
    Stmt body = under(bounds.withRange(f.var(), min, extent), () -> stmt(f.body()));
    if (isEmpty(body)) {
      return Stmt.Seq.EMPTY;
    }
    return min == f.min() && extent == f.extent() && body == f.body()
        ? f
        : new Stmt.For(f.var(), min, extent, f.kind(), f.axis(), f.attrs(), body);
  }

  private Stmt branch(Stmt.If i) {
    Expr condition = expr(i.condition());
    if (condition instanceof Expr.IntImm imm) {
      Stmt taken = imm.value() != 0 ? i.then() : i.otherwise();
      return taken == null ? Stmt.Seq.EMPTY : stmt(taken);
    }
    Stmt then = under(bounds.assuming(condition), () -> stmt(i.then()));
    Stmt otherwise = null;
    if (i.otherwise() != null) {
      Stmt old = i.otherwise();
      Stmt rewritten = under(bounds.assumingNot(condition), () -> stmt(old));
      otherwise = isEmpty(rewritten) ? null : rewritten;
    }
    if (isEmpty(then) && Bounds.isStable(condition)) {
      return otherwise == null
          ? Stmt.Seq.EMPTY
          : new Stmt.If(expr(Simplifier.negate(condition)), otherwise, null);
    }
    return condition == i.condition() && then == i.then() && otherwise == i.otherwise()
        ? i
        : new Stmt.If(condition, then, otherwise);
  }

  private Stmt let(Stmt.Let let) {
    Expr value = expr(let.value());
    if (value instanceof Expr.IntImm || value instanceof Expr.FloatImm || value instanceof Var) {
      return stmt(Substitution.ofVars(Map.of(let.var(), value)).stmt(let.body()));
    }
    Stmt body = under(bounds.withValue(let.var(), value), () -> stmt(let.body()));
    if (isEmpty(body) && Bounds.isStable(value)) {
      return Stmt.Seq.EMPTY;
    }
    return value == let.value() && body == let.body() ? let : new Stmt.Let(let.var(), value, body);
  }

  private Stmt block(Stmt.Block b) {
    Expr predicate = b.predicate() == null ? null : expr(b.predicate());
    if (predicate instanceof Expr.IntImm imm) {
      if (imm.value() == 0) {
        return Stmt.Seq.EMPTY;
      }
      predicate = null;
    }
    Bounds inner = predicate == null ? bounds : bounds.assuming(predicate);
    for (IterVar iv : b.iterVars()) {
      inner = inner.withRange(iv.var(), Exprs.i32(0), iv.extent());
    }
    List<IterVar> iterVars =
        each(
            b.iterVars(),
            iv -> {
              Expr extent = expr(iv.extent());
              Expr binding = expr(iv.binding());
              return extent == iv.extent() && binding == iv.binding()
                  ? iv
                  : new IterVar(iv.var(), extent, iv.kind(), binding);
            });
    List<Region> reads = under(inner, () -> each(b.reads(), this::region));
    List<Region> writes = under(inner, () -> each(b.writes(), this::region));
    Stmt init = b.init();
    if (init != null) {
      Stmt old = init;
      init = under(inner, () -> stmt(old));
    }
    Stmt body = under(inner, () -> stmt(b.body()));
    return iterVars == b.iterVars()
            && predicate == b.predicate()
            && reads == b.reads()
            && writes == b.writes()
            && init == b.init()
            && body == b.body()
        ? b
        : new Stmt.Block(b.name(), iterVars, predicate, reads, writes, init, body, b.attrs());
  }
}
