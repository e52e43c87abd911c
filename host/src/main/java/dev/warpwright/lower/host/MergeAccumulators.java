package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets a formula over an accumulator replace it in place: where all that reads an accumulator is
 * one map, point by point, the buffer that the map writes serves as the accumulator. That halves
 * what a layer touches in the core's cache.
 *
 * <p>Guarantees the same results; stands before the buffers get their padded forms.
 */
final class MergeAccumulators extends Rewriter {
  private MergeAccumulators() {}

  static Stmt apply(Stmt body) {
    return new MergeAccumulators().stmt(body);
  }

  @Override
  public Stmt stmt(Stmt s) {
    ScratchSequence sequence = ScratchSequence.of(s);
    if (sequence == null) {
      return super.stmt(s);
    }
    Map<Buffer, Buffer> merged = new HashMap<>();
    Set<Buffer> taken = new HashSet<>();
    for (int at = 0; at < sequence.stmts().size(); at++) {
      if (sequence.stmts().get(at) instanceof Stmt.TileMap map) {
        Buffer accumulator = mergeable(sequence, map, at);
        if (accumulator != null && taken.add(map.stores().getFirst().buffer())) {
          merged.put(accumulator, map.stores().getFirst().buffer());
        }
      }
    }
    return sequence.replace(merged, this::stmt);
  }

  /** An accumulator that the map's result can take the place of, or null. */
  private static @Nullable Buffer mergeable(ScratchSequence sequence, Stmt.TileMap map, int at) {
    if (map.stores().size() != 1 || map.vars().size() != 2) {
      return null;
    }
    Stmt.Store store = map.stores().getFirst();
    Buffer to = store.buffer();
    if (!sequence.isScratch(to)
        || to.dtype() != DType.F32
        || to.layout() != null
        || !store.indices().equals(List.copyOf(map.vars()))
        || sequence.first(to) != at
        || reads(map, to)) {
      return null;
    }
    for (Buffer buffer : sequence.endingAt(at)) {
      if (buffer != to
          && buffer.dtype() == DType.F32
          && buffer.layout() == null
          && buffer.shape().equals(to.shape())
          && buffer.scope() != Scope.LOCAL
          && isPointwise(map, buffer)
          && isAccumulator(sequence, buffer, at)) {
        return buffer;
      }
    }
    return null;
  }

  private static boolean reads(Stmt.TileMap map, Buffer buffer) {
    boolean[] found = {false};
    Walk.expressions(map, e -> found[0] |= e instanceof Expr.Load l && l.buffer() == buffer);
    return found[0];
  }

  private static boolean isPointwise(Stmt.TileMap map, Buffer buffer) {
    boolean[] result = {true};
    Walk.expressions(
        map,
        e -> {
          if (e instanceof Expr.Load(Buffer b, List<Expr> indices) && b == buffer) {
            result[0] &= indices.equals(List.copyOf(map.vars()));
          }
        });
    return result[0];
  }

  /** Whether only products and what they start from write the buffer before the map. */
  private static boolean isAccumulator(ScratchSequence sequence, Buffer buffer, int end) {
    boolean multiplied = false;
    for (int at : sequence.uses(buffer)) {
      if (at >= end) {
        break;
      }
      switch (sequence.stmts().get(at)) {
        case Stmt.TileFill fill -> {}
        case Stmt.TileMma mma -> {
          if (mma.c().buffer() != buffer
              || mma.a().buffer() == buffer
              || mma.b().buffer() == buffer) {
            return false;
          }
          multiplied = true;
        }
        default -> {
          return false;
        }
      }
    }
    return multiplied;
  }
}
