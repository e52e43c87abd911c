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
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.RowVectors;
import dev.warpwright.lower.gpu.ThreadCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a map over a fragment reads that is the same for all of a row's columns, the few inputs of a
 * formula, and functions of what rows were reduced to: each thread reads or calls it once for each
 * of its rows, ahead of the map, and not once for each of its elements. Where the map has no rows,
 * nothing is read.
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
  private final Map<Expr, Buffer> vectors = new LinkedHashMap<>();
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
            Buffer from = load.buffer();
            vectors.computeIfAbsent(load, l -> vector(from.name() + "_row", from.dtype()));
          }
        });
    new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        if (!isCall(e)) {
          return super.expr(e);
        }
        vectors.computeIfAbsent(e, call -> vector("of_row", DType.F32));
        return e;
      }
    }.expr(map.stores().getFirst().value());
  }

  /** Whether a function's arguments, one at least, are what rows were reduced to. */
  private boolean isCall(Expr e) {
    if (!(e instanceof Expr.Call) || !e.type().equals(Type.F32)) {
      return false;
    }
    boolean[] found = {true, false};
    Walk.expressions(
        e,
        inner -> {
          boolean reduced =
              inner instanceof Expr.Load(Buffer buffer, List<Expr> indices)
                  && RowVectors.is(buffer)
                  && indices.getFirst() == map.vars().getFirst();
          found[0] &= reduced || !(inner instanceof Expr.Load || inner == map.vars().get(1));
          found[1] |= reduced;
        });
    return found[0] && found[1];
  }

  private Buffer vector(String name, DType type) {
    return Buffer.of(name, type, Scope.LOCAL, count());
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

  /** The map's code behind the reads and calls that it needs. */
  Stmt around(ThreadCode code, Stmt body) {
    if (vectors.isEmpty()) {
      return body;
    }
    Var first = Var.index("first_row");
    List<Stmt> stmts = new ArrayList<>();
    vectors.forEach(
        (value, vector) -> {
          for (long number = 0; number < count(); number++) {
            Expr row = Exprs.add(first, Exprs.i32(row(number)));
            Substitution at = Substitution.ofVars(Map.of(map.vars().getFirst(), row));
            Expr own = at.expr(ofNumber(code, number).expr(value));
            Expr read = Exprs.select(at.expr(inside), own, Exprs.zero(own.type()));
            stmts.add(
                new Stmt.Store(
                    vector, List.of(Exprs.i32(number)), value instanceof Expr.Load ? read : own));
          }
        });
    stmts.add(body);
    return Stmts.alloc(
        List.copyOf(vectors.values()),
        new Stmt.Let(first, layout.rowOfThread(code.thread()), Stmts.seq(stmts)));
  }

  /** What rows were reduced to, of the thread's row of that number. */
  private static Rewriter ofNumber(ThreadCode code, long number) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        return e instanceof Expr.Load(Buffer buffer, List<Expr> _) && RowVectors.is(buffer)
            ? new Expr.Load(code.registers(buffer), List.of(Exprs.i32(number)))
            : super.expr(e);
      }
    };
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
   * A value of which parts were read or computed ahead, for the element in that register.
   *
   * @param vectors where these are, numbered by these digits of a register's number
   */
  static Expr loaded(
      Expr value,
      Expr register,
      Map<? extends Expr, Buffer> vectors,
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
        if (vectors.get(e) instanceof Buffer vector) {
          return new Expr.Load(vector, List.of(element));
        }
        return super.expr(e);
      }
    }.expr(value);
  }
}
