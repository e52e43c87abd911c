package dev.warpwright.lower.simt;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.VectorizeLoops;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns vectorized loops into vector loads and stores. A copy of which one side only is consecutive
 * and aligned, as where a tile is transposed on its way, goes through registers: one vector access
 * on that side, elements on the other. Where not even that is certain, it is a loop written out.
 *
 * <p>Accumulators in f32 are copied on their way out: a vector store takes neighbouring registers,
 * and accumulators that lie so all along come from one register bank with their operands more often
 * than others (docs/benchmarks/2026-11-29-registers-of-accumulators.md).
 *
 * <pre>{@code
 * vectorized v in 4 {            alloc C_vec: f32[4] local
 *   C[i, j + v] = acc[r + v]  →  unroll v in 4 { C_vec[v] = copy.f32(acc[r + v]) }
 * }                              C[i, ramp(j, 1, 4)] = C_vec[ramp(0, 1, 4)]
 * }</pre>
 *
 * <p>Guarantees: no vectorized loop is left, and every vector access is aligned.
 */
final class VectorAccesses extends Rewriter {
  private final Set<Buffer> accumulators;

  private VectorAccesses(Set<Buffer> accumulators) {
    this.accumulators = accumulators;
  }

  static Stmt apply(Stmt body) {
    return new VectorAccesses(accumulators(body)).stmt(body);
  }

  /** What multiply-adds in f32 add to. */
  private static Set<Buffer> accumulators(Stmt body) {
    Set<Buffer> accumulators = new HashSet<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Store(Buffer to, List<Expr> _, Expr.Call sum)
              && sum.op() == MathOp.FMA
              && sum.args().getLast() instanceof Expr.Load before
              && before.buffer() == to
              && to.scope() == Scope.LOCAL
              && to.dtype() == DType.F32) {
            accumulators.add(to);
          }
        });
    return accumulators;
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
  private @Nullable Stmt vector(Stmt.For loop, Stmt body) {
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
    boolean leaves =
        accumulators.contains(copy.load().buffer()) && store.buffer().scope() != Scope.LOCAL;
    if (wideStore && wideLoad && !leaves) {
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
              unrolled(
                  loop,
                  loop.var(),
                  new Stmt.Store(held, List.of(loop.var()), leaves ? copied(copy) : store.value())),
              new Stmt.Store(
                  store.buffer(), lanes.all(store.indices()), new Expr.Load(held, whole(lanes)))));
    }
    return null;
  }

  private static Expr copied(Copy copy) {
    Expr own = new Expr.Call(Intrinsics.COPY_F32, List.of(copy.load()), Type.F32);
    return Exprs.select(copy.inside(), own, Exprs.zero(Type.F32));
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
