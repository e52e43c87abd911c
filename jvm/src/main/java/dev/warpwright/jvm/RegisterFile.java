package dev.warpwright.jvm;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The local variables that stand for a local buffer: one for each offset at which it is accessed.
 *
 * @param types offset of the first element to the type of the access
 */
record RegisterFile(Buffer buffer, SortedMap<Long, Type> types) {
  /**
   * The variables for a buffer, or null where it must stay in memory: an index is not constant, or
   * accesses overlap without being equal.
   */
  static @Nullable RegisterFile of(Buffer buffer, Stmt body) {
    TreeMap<Long, Type> types = new TreeMap<>();
    boolean[] possible = {true};
    Walk.all(
        body,
        s -> {
          if (s instanceof Stmt.Store store && store.buffer() == buffer) {
            possible[0] &= add(types, buffer, store.indices());
          }
        },
        e -> {
          if (e instanceof Expr.Load load && load.buffer() == buffer) {
            possible[0] &= add(types, buffer, load.indices());
          }
        });
    return possible[0] && !overlaps(types) ? new RegisterFile(buffer, types) : null;
  }

  private static boolean add(Map<Long, Type> types, Buffer buffer, List<Expr> indices) {
    if (!(offset(buffer, indices) instanceof Expr.IntImm imm)) {
      return false;
    }
    int lanes = indices.isEmpty() ? 1 : indices.getLast().type().lanes();
    Type type = new Type(buffer.dtype(), lanes);
    Type before = types.putIfAbsent(imm.value(), type);
    return before == null || before.equals(type);
  }

  private static boolean overlaps(SortedMap<Long, Type> types) {
    long free = Long.MIN_VALUE;
    for (Map.Entry<Long, Type> entry : types.entrySet()) {
      if (entry.getKey() < free) {
        return true;
      }
      free = entry.getKey() + entry.getValue().lanes();
    }
    return false;
  }

  private static Expr offset(Buffer buffer, List<Expr> indices) {
    for (Expr index : indices) {
      boolean constant =
          index instanceof Expr.IntImm
              || (index instanceof Expr.Ramp ramp && ramp.base() instanceof Expr.IntImm);
      if (!constant) {
        return index;
      }
    }
    return indices.isEmpty() ? Exprs.i32(0) : Indexing.offset(buffer, indices);
  }

  /** Offset of an access that {@link #of} has seen. */
  long offsetOf(List<Expr> indices) {
    return ((Expr.IntImm) offset(buffer, indices)).value();
  }
}
