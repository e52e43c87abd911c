package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Allocations around a sequence of statements, and from which to which statement each buffer is
 * used.
 *
 * @param lives buffer to the positions of its first and last use; -1 where it has none
 */
record ScratchSequence(Map<Buffer, int[]> lives, List<Stmt> stmts) {
  /** The sequence that begins with this allocation; null where there is none. */
  static @Nullable ScratchSequence of(Stmt s) {
    Map<Buffer, int[]> lives = new LinkedHashMap<>();
    Stmt inner = s;
    while (inner instanceof Stmt.Alloc(Buffer buffer, Stmt body)) {
      lives.put(buffer, new int[] {-1, -1});
      inner = body;
    }
    if (lives.isEmpty() || !(inner instanceof Stmt.Seq(List<Stmt> stmts))) {
      return null;
    }
    for (int i = 0; i < stmts.size(); i++) {
      for (Buffer buffer : used(stmts.get(i))) {
        int[] life = lives.get(buffer);
        if (life != null) {
          life[0] = life[0] < 0 ? i : life[0];
          life[1] = i;
        }
      }
    }
    return new ScratchSequence(lives, stmts);
  }

  Set<Buffer> buffers() {
    return lives.keySet();
  }

  boolean isScratch(Buffer buffer) {
    return lives.containsKey(buffer);
  }

  /** Position of the first statement that uses the buffer, -1 where none does. */
  int first(Buffer buffer) {
    return lives.getOrDefault(buffer, new int[] {-1, -1})[0];
  }

  /** Position of the last one. */
  int last(Buffer buffer) {
    return lives.getOrDefault(buffer, new int[] {-1, -1})[1];
  }

  /** The statement with some of the buffers replaced by others of them. */
  Stmt replace(Map<Buffer, Buffer> replaced, UnaryOperator<Stmt> inside) {
    Substitution substitution = Substitution.ofBuffers(replaced);
    List<Buffer> kept = new ArrayList<>(buffers());
    kept.removeAll(replaced.keySet());
    List<Stmt> result = new ArrayList<>();
    for (Stmt s : stmts) {
      result.add(inside.apply(replaced.isEmpty() ? s : substitution.stmt(s)));
    }
    return Stmts.alloc(kept, new Stmt.Seq(result));
  }

  /** Every buffer that a statement reads or writes. */
  static Set<Buffer> used(Stmt stmt) {
    Set<Buffer> used = new HashSet<>();
    Walk.all(
        stmt,
        s -> {
          switch (s) {
            case Stmt.Store store -> used.add(store.buffer());
            case Stmt.TileCopy copy -> {
              used.add(copy.to().buffer());
              used.add(copy.from().buffer());
            }
            case Stmt.TileFill fill -> used.add(fill.to().buffer());
            case Stmt.TileMma mma -> {
              used.add(mma.c().buffer());
              used.add(mma.a().buffer());
              used.add(mma.b().buffer());
            }
            case Stmt.TileReduce reduce -> used.add(reduce.to());
            default -> {}
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            used.add(load.buffer());
          }
        });
    return used;
  }
}
