package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.MMajor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A layer by fma: its accumulators are filled, multiplied into, and mapped. */
record FmaLayer(Stmt.TileFill fill, Stmt.TileMma mma, Stmt.TileMap map) {
  /** The layer that three statements from a place on are; null if they are none. */
  static @Nullable FmaLayer at(List<Stmt> stmts, int place) {
    return place + 2 < stmts.size()
            && stmts.get(place) instanceof Stmt.TileFill fill
            && stmts.get(place + 1) instanceof Stmt.TileMma mma
            && stmts.get(place + 2) instanceof Stmt.TileMap map
            && MMajor.isFor(mma)
            && map.stores().size() == 1
            && fill.to().buffer() == mma.c().buffer()
            && mma.b().buffer().scope() == Scope.SHARED
        ? new FmaLayer(fill, mma, map)
        : null;
  }

  Buffer sums() {
    return mma.c().buffer();
  }

  Buffer in() {
    return mma.a().buffer();
  }

  Buffer weights() {
    return mma.b().buffer();
  }

  Buffer out() {
    return map.stores().getFirst().buffer();
  }

  /** Whether the products of two layers differ in their weights alone. */
  boolean multipliesLike(FmaLayer other) {
    return isAlike(sums(), other.sums())
        && isAlike(in(), other.in())
        && isAlike(weights(), other.weights())
        && fill.value().equals(other.fill.value())
        && mma.attrs().equals(other.mma.attrs())
        && mma.c().ranges().equals(other.mma.c().ranges())
        && mma.a().ranges().equals(other.mma.a().ranges())
        && mma.b().ranges().equals(other.mma.b().ranges());
  }

  /** Whether one buffer may take another's place. */
  static boolean isAlike(Buffer a, Buffer b) {
    return a.dtype() == b.dtype()
        && a.scope() == b.scope()
        && a.shape().equals(b.shape())
        && Objects.equals(a.layout(), b.layout());
  }

  /**
   * What this layer's map reads where the first one's reads a vector, by the first one's; null if
   * the maps are not alike.
   */
  @Nullable Map<Buffer, Buffer> vectors(FmaLayer first) {
    Stmt.TileMap one = first.map;
    if (one.vars().size() != map.vars().size()
        || !one.extents().equals(map.extents())
        || !one.attrs().equals(map.attrs())) {
      return null;
    }
    List<Buffer> ofFirst = first.reads();
    List<Buffer> own = reads();
    if (ofFirst.size() != own.size()) {
      return null;
    }
    Map<Buffer, Buffer> buffers = new HashMap<>();
    Map<Buffer, Buffer> vectors = new HashMap<>();
    buffers.put(sums(), first.sums());
    buffers.put(out(), first.out());
    for (int i = 0; i < own.size(); i++) {
      Buffer a = ofFirst.get(i);
      Buffer b = own.get(i);
      if (!isAlike(a, b) || a.rank() != 1 || !a.hasConstantShape()) {
        return null;
      }
      buffers.put(b, a);
      vectors.put(a, b);
    }
    Map<Var, Expr> vars = new HashMap<>();
    for (int d = 0; d < one.vars().size(); d++) {
      vars.put(map.vars().get(d), one.vars().get(d));
    }
    Stmt renamed = new Substitution(vars, buffers).stmt(map.stores().getFirst());
    return renamed.equals(one.stores().getFirst()) ? vectors : null;
  }

  /** The vectors that the map reads, in the order of its formula. */
  List<Buffer> reads() {
    List<Buffer> reads = new ArrayList<>();
    Walk.expressions(
        map.stores().getFirst(),
        e -> {
          if (e instanceof Expr.Load load
              && load.buffer() != sums()
              && !reads.contains(load.buffer())) {
            reads.add(load.buffer());
          }
        });
    return reads;
  }
}
