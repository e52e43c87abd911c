package dev.warpwright.ir.arith;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
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
import org.jspecify.annotations.Nullable;

/**
 * Simplifies statements with what loops, launch indices, lets and conditions say about variables.
 *
 * <pre>{@code
 * for i in 8 { if i < 9 { a[i * 4 / 4 + 0] = 1 } }   →   for i in 8 { a[i] = 1 }
 * }</pre>
 *
 * <p>Branches whose condition is decided, loops without iterations and empty sequences disappear;
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
      case Stmt.Store store -> super.stmt(store);
      case Stmt.Evaluate e -> super.stmt(e);
      case Stmt.Comment c -> c;
      case Stmt.TileCopy c -> super.stmt(c);
      case Stmt.TileFill f -> super.stmt(f);
      case Stmt.TileMma m -> super.stmt(m);
      case Stmt.TileMap m -> super.stmt(m);
      case Stmt.TileReduce r -> super.stmt(r);
      // What waits, waits also where it does nothing with what it gets.
      case Stmt.Flow flow -> super.stmt(flow);
    };
  }

  @Override
  protected <T> T under(List<Var> vars, List<Expr> extents, Supplier<T> rewrite) {
    Bounds inner = bounds;
    for (int i = 0; i < vars.size(); i++) {
      inner = inner.withRange(vars.get(i), Exprs.i32(0), extents.get(i));
    }
    return under(inner, rewrite);
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
    @Nullable Expr predicate = b.predicate() == null ? null : expr(b.predicate());
    if (predicate instanceof Expr.IntImm imm) {
      if (imm.value() == 0) {
        return Stmt.Seq.EMPTY;
      }
      predicate = null;
    }
    return block(b, predicate);
  }

  @Override
  protected <T> T inBlock(Stmt.Block b, @Nullable Expr predicate, Supplier<T> rewrite) {
    return under(
        predicate == null ? bounds : bounds.assuming(predicate),
        () ->
            under(
                b.iterVars().stream().map(IterVar::var).toList(),
                b.iterVars().stream().map(IterVar::extent).toList(),
                rewrite));
  }
}
