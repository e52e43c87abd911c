package dev.warpwright.lower.simt;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.pass.VectorizeLoops;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Turns vectorized loops into vector loads and stores. A copy of which one side only is consecutive
 * and aligned, as where a tile is transposed on its way, goes through registers: one vector access
 * on that side, elements on the other. Where not even that is certain, it is a loop written out.
 *
 * <p>Guarantees: no vectorized loop is left, and every vector access is aligned.
 */
final class VectorAccesses extends Rewriter {
  private VectorAccesses() {}

  static Stmt apply(Stmt body) {
    return new VectorAccesses().stmt(body);
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (!(s instanceof Stmt.For loop) || loop.kind() != ForKind.VECTORIZED) {
      return super.stmt(s);
    }
    Stmt vector = vector(loop, loop.body());
    return vector != null ? vector : unrolled(loop, loop.var(), loop.body());
  }

  private static Stmt unrolled(Stmt.For loop, Var v, Stmt body) {
    return new Stmt.For(v, loop.min(), loop.extent(), ForKind.UNROLLED, null, loop.attrs(), body);
  }

  /** The loop as vector accesses, or null where it cannot be one. */
  private static @Nullable Stmt vector(Stmt.For loop, Stmt body) {
    Vectors lanes = new Vectors(loop);
    if (body instanceof Stmt.If(Expr condition, Stmt then, Stmt otherwise) && otherwise == null) {
      Expr uniform = lanes.uniform(condition);
      if (uniform == null) {
        return null;
      }
      Stmt inner = vector(loop.withBody(then), then);
      return inner == null ? null : new Stmt.If(uniform, inner, null);
    }
    if (!(body instanceof Stmt.Store store)) {
      return null;
    }
    boolean wideStore = lanes.isOneAccess(store.buffer(), store.indices());
    Copy copy = Copy.of(store);
    if (copy == null) {
      boolean possible = wideStore && VectorizeLoops.refusal(loop.withBody(store)) == null;
      return possible ? VectorizeLoops.apply(loop.withBody(store)) : null;
    }
    Expr inside = lanes.uniform(copy.inside());
    boolean wideLoad = lanes.isOneAccess(copy.load().buffer(), copy.load().indices());
    if (inside == null) {
      return null;
    }
    if (wideStore && wideLoad) {
      return new Stmt.Store(
          store.buffer(), lanes.all(store.indices()), loaded(copy, inside, lanes));
    }
    if (wideLoad && copy.load().buffer().scope() != Scope.LOCAL) {
      Buffer held = held(copy.load().buffer(), lanes);
      return new Stmt.Alloc(
          held,
          Stmts.seq(
              new Stmt.Store(held, whole(lanes), loaded(copy, inside, lanes)),
              unrolled(
                  loop,
                  loop.var(),
                  new Stmt.Store(
                      store.buffer(), store.indices(), new Expr.Load(held, List.of(loop.var()))))));
    }
    if (wideStore && store.buffer().scope() != Scope.LOCAL) {
      Buffer held = held(store.buffer(), lanes);
      return new Stmt.Alloc(
          held,
          Stmts.seq(
              unrolled(loop, loop.var(), new Stmt.Store(held, List.of(loop.var()), store.value())),
              new Stmt.Store(
                  store.buffer(), lanes.all(store.indices()), new Expr.Load(held, whole(lanes)))));
    }
    return null;
  }

  private static Expr loaded(Copy copy, Expr inside, Vectors lanes) {
    Expr vector = new Expr.Load(copy.load().buffer(), lanes.all(copy.load().indices()));
    if (Exprs.isConst(inside, 1)) {
      return vector;
    }
    Expr zero = Exprs.zero(vector.type().withLanes(1));
    return new Expr.Select(
        new Expr.Broadcast(inside, lanes.lanes()), vector, new Expr.Broadcast(zero, lanes.lanes()));
  }

  private static Buffer held(Buffer like, Vectors lanes) {
    return Buffer.of(like.name() + "_vec", like.dtype(), Scope.LOCAL, lanes.lanes());
  }

  private static List<Expr> whole(Vectors lanes) {
    return List.of(new Expr.Ramp(Exprs.i32(0), 1, lanes.lanes()));
  }
}
