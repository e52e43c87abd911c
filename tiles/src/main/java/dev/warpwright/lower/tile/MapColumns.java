package dev.warpwright.lower.tile;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How a map reads and writes its columns: what {@link PackConstants} asks before it exchanges them.
 */
final class MapColumns {
  private MapColumns() {}

  static long columnsOf(Stmt.TileMap map) {
    return map.extents().get(1) instanceof Expr.IntImm(var type, long n) ? n : 1;
  }

  /** What is added to a map's column in an index; null of other indices. */
  static @Nullable Expr first(Stmt.TileMap map, Expr index) {
    Var column = map.vars().get(1);
    Expr first = null;
    if (index == column) {
      first = Exprs.i32(0);
    } else if (index instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
        && op == BinaryOp.ADD
        && b == column) {
      first = a;
    }
    boolean[] fixed = {first != null};
    if (first != null) {
      Walk.expressions(first, e -> fixed[0] &= !(e instanceof Var v && map.vars().contains(v)));
    }
    return fixed[0] ? first : null;
  }

  static Stmt with(Stmt.TileMap map, Stmt.Store store) {
    return new Stmt.TileMap(map.vars(), map.extents(), List.of(store), map.attrs());
  }

  /** A value of a map whose accumulators have their columns permuted. */
  static Expr atColumns(Stmt.TileMap map, Expr value, int group) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
            && buffer.scope() == Scope.GLOBAL
            && first(map, indices.getLast()) instanceof Expr first) {
          List<Expr> at = new ArrayList<>(indices);
          at.set(at.size() - 1, Exprs.add(first, ColumnOrder.column(map.vars().get(1), group)));
          return new Expr.Load(buffer, at);
        }
        return super.expr(e);
      }
    }.expr(value);
  }

  /** What a map reads: perhaps one accumulator at its own point, and rows at its own column. */
  static final class Inputs {
    final Set<Buffer> rows = new LinkedHashSet<>();
    @Nullable Buffer accumulator;
    boolean fits = true;

    Inputs(Stmt.TileMap map, int group) {
      List<Expr> point = List.copyOf(map.vars());
      Var column = map.vars().get(1);
      int[] elsewhere = {0};
      Walk.expressions(
          map.stores().getFirst().value(),
          e -> {
            if (e == column) {
              elsewhere[0]++;
            } else if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)) {
              if (buffer.scope() == Scope.FRAGMENT) {
                fits &= indices.equals(point) && (accumulator == null || accumulator == buffer);
                accumulator = buffer;
                elsewhere[0]--;
              } else if (first(map, indices.getLast()) instanceof Expr first) {
                fits &= Exprs.isConst(first, 0) || ColumnOrder.isMultiple(first, group);
                fits &= buffer.scope() == Scope.GLOBAL && !indices.contains(map.vars().get(0));
                rows.add(buffer);
                elsewhere[0]--;
              }
            }
          });
      fits &= elsewhere[0] == 0;
    }
  }
}
