package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.ThreadCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a map over a fragment reads that is the same for all of a row's columns, the few inputs of a
 * formula: each thread reads it once for each of its rows, ahead of the map, and not once for each
 * of its elements. Where the map has no rows, nothing is read.
 *
 * <pre>{@code
 * tile.map (r, n) {                        alloc x_row: f32[2] local
 *   h[r, n] = select(r0 + r < M,       →   x_row[0] = select(r0 + row < M, x[r0 + row, 1], 0) …
 *       f16(f(x[r0 + r, 1], w[n])), 0)     h… = f(x_row[…], w…)
 * }
 * }</pre>
 */
final class RowInputs {
  private final Stmt.TileMap map;
  private final FragmentLayout layout;
  private final Expr inside;
  private final List<Digit> rows = new ArrayList<>();
  private final Map<Expr.Load, Buffer> vectors = new LinkedHashMap<>();
  private boolean all = true;

  /**
   * The rows of a map.
   *
   * @param inside where there are rows, in terms of the map's variables
   */
  RowInputs(Stmt.TileMap map, FragmentLayout layout, Expr inside) {
    this.map = map;
    this.layout = layout;
    this.inside = inside;
    for (Digit digit : layout.registerDigits()) {
      if (digit.rowStep() != 0 && digit.colStep() == 0 && digit.extent() > 1) {
        rows.add(digit);
      }
    }
    Walk.expressions(
        map.stores().getFirst().value(),
        e -> {
          if (e instanceof Expr.Load load && !isRow(load)) {
            all &= !isOfRow(load);
          } else if (e instanceof Expr.Load load) {
            vectors.computeIfAbsent(
                load,
                l ->
                    Buffer.of(
                        l.buffer().name() + "_row", l.buffer().dtype(), Scope.LOCAL, count()));
          }
        });
  }

  private long count() {
    return rows.stream().mapToLong(Digit::extent).reduce(1, (a, b) -> a * b);
  }

  /** Whether the map reads nothing else of its rows from memory. */
  boolean areAll() {
    return all;
  }

  private boolean isOfRow(Expr.Load load) {
    boolean[] found = {false};
    load.indices()
        .forEach(index -> Walk.expressions(index, e -> found[0] |= e == map.vars().getFirst()));
    return load.buffer().scope() != Scope.FRAGMENT && found[0];
  }

  private boolean isRow(Expr.Load load) {
    if (load.buffer().scope() != Scope.GLOBAL) {
      return false;
    }
    boolean[] found = {false, false, false};
    for (Expr index : load.indices()) {
      Walk.expressions(
          index,
          e -> {
            found[0] |= e == map.vars().get(0);
            found[1] |= e == map.vars().get(1);
            found[2] |= e instanceof Expr.Load || e instanceof Expr.Call;
          });
    }
    return found[0] && !found[1] && !found[2];
  }

  /** The map's code behind the reads that it needs. */
  Stmt around(ThreadCode code, Stmt body) {
    if (vectors.isEmpty()) {
      return body;
    }
    Var first = Var.index("first_row");
    List<Stmt> stmts = new ArrayList<>();
    vectors.forEach(
        (load, vector) -> {
          for (long number = 0; number < count(); number++) {
            Expr row = Exprs.add(first, Exprs.i32(row(number)));
            Substitution at = Substitution.ofVars(Map.of(map.vars().getFirst(), row));
            Expr value = Exprs.select(at.expr(inside), at.expr(load), Exprs.zero(load.type()));
            stmts.add(new Stmt.Store(vector, List.of(Exprs.i32(number)), value));
          }
        });
    stmts.add(body);
    return Stmts.alloc(
        List.copyOf(vectors.values()),
        new Stmt.Let(first, layout.rowOfThread(code.thread()), Stmts.seq(stmts)));
  }

  /** The row, relative to the thread's first, of that number. */
  private long row(long number) {
    long row = 0;
    for (Digit digit : rows) {
      row += number % digit.extent() * digit.rowStep();
      number /= digit.extent();
    }
    return row;
  }

  /** A value of the map for the element in that register. */
  Expr of(Expr value, Expr register) {
    return loaded(value, register, vectors, layout, rows);
  }

  /**
   * A value whose loads were made ahead, for the element in that register.
   *
   * @param vectors where what was loaded is, numbered by these digits of a register's number
   */
  static Expr loaded(
      Expr value,
      Expr register,
      Map<Expr.Load, Buffer> vectors,
      FragmentLayout layout,
      List<Digit> digits) {
    if (vectors.isEmpty()) {
      return value;
    }
    Expr number = Exprs.i32(0);
    long weight = 1;
    long registers = 1;
    for (Digit digit : layout.registerDigits()) {
      if (digits.contains(digit)) {
        Expr place = Exprs.mod(Exprs.div(register, registers), digit.extent());
        number = Exprs.add(number, Exprs.mul(place, weight));
        weight *= digit.extent();
      }
      registers *= digit.extent();
    }
    Expr element = number;
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        if (e instanceof Expr.Load load && vectors.get(load) instanceof Buffer vector) {
          return new Expr.Load(vector, List.of(element));
        }
        return super.expr(e);
      }
    }.expr(value);
  }
}
