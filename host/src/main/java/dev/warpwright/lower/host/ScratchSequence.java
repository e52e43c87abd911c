package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Allocations around a sequence of statements, and by which statements each buffer is used.
 *
 * @param uses buffer to the positions of the statements that use it, in order
 * @param endings position to the buffers that are used there last, in the order of allocation
 */
record ScratchSequence(
    Map<Buffer, List<Integer>> uses, Map<Integer, List<Buffer>> endings, List<Stmt> stmts) {
  /** The sequence that begins with this allocation; null where there is none. */
  static @Nullable ScratchSequence of(Stmt s) {
    Map<Buffer, List<Integer>> uses = new LinkedHashMap<>();
    Stmt inner = s;
    while (inner instanceof Stmt.Alloc(Buffer buffer, Stmt body)) {
      uses.put(buffer, new ArrayList<>());
      inner = body;
    }
    if (uses.isEmpty() || !(inner instanceof Stmt.Seq(List<Stmt> stmts))) {
      return null;
    }
    for (int i = 0; i < stmts.size(); i++) {
      for (Buffer buffer : used(stmts.get(i))) {
        List<Integer> own = uses.get(buffer);
        if (own != null) {
          own.add(i);
        }
      }
    }
    Map<Integer, List<Buffer>> endings = new HashMap<>();
    uses.forEach(
        (buffer, at) -> {
          if (!at.isEmpty()) {
            endings.computeIfAbsent(at.getLast(), x -> new ArrayList<>()).add(buffer);
          }
        });
    return new ScratchSequence(uses, endings, stmts);
  }

  Set<Buffer> buffers() {
    return uses.keySet();
  }

  boolean isScratch(Buffer buffer) {
    return uses.containsKey(buffer);
  }

  /** Positions of the statements that use the buffer. */
  List<Integer> uses(Buffer buffer) {
    return uses.getOrDefault(buffer, List.of());
  }

  /** The buffers whose last use is at this position. */
  List<Buffer> endingAt(int position) {
    return endings.getOrDefault(position, List.of());
  }

  /** Position of the first statement that uses the buffer, -1 where none does. */
  int first(Buffer buffer) {
    List<Integer> own = uses(buffer);
    return own.isEmpty() ? -1 : own.getFirst();
  }

  /** Position of the last one. */
  int last(Buffer buffer) {
    List<Integer> own = uses(buffer);
    return own.isEmpty() ? -1 : own.getLast();
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
