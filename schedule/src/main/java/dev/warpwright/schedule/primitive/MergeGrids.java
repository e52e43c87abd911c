package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.Hull;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Makes one loop over work of two loops over tiles, so that one grid does both. The second may need
 * what the first computes.
 *
 * <pre>{@code
 * for x in T { S(x) }  for y in U { R(y) }
 * →   sequence
 * for x_y in T + U [order = "sequence/row/row", wait = "tile", waits = "h"] {
 *   if x_y < T { S(x_y) } else { R(x_y - T) } }
 * →   rows, with t and u tiles in a row
 * for x_y in T + U [order = "rows", wait = "row", waits = "h"] {
 *   if x_y % (t + u) < t { S(tile of row x_y / (t+u), column x_y % (t+u)) }
 *   else { R(tile of row x_y / (t+u), column x_y % (t+u) - t) } }
 * }</pre>
 *
 * <p>In this order the loop means what the two did. {@link Persistent} then shares it out: an
 * iteration waits for the earlier ones that compute what it reads in the buffers {@code waits}, as
 * {@code wait} says for which: those of its tiles, of the whole row of tiles, or of the whole grid.
 * Since it waits for earlier ones only, it cannot wait for ever. The orders of both loops become
 * the {@link FusedOrder} of the work; {@code columns} and {@code secondColumns} are tiles in a row.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>Both loops exist.
 *   <li>Both are serial and start at 0; the second one comes right after the first.
 *   <li>Each by itself has independent iterations.
 *   <li>The first one neither reads nor writes what the second one writes, and what the second one
 *       reads of the first one is in global memory. Where there is no such buffer, nothing waits.
 *   <li>By rows: both are loops over tiles with as many rows, and each row of the second one reads
 *       rows that the first one computes in the same row of tiles, or earlier.
 *   <li>Waiting for rows: the same, and it reads no earlier ones.
 *   <li>By rows: it waits for no rows of tiles behind its own.
 * </ol>
 */
public final class MergeGrids {
  private static final String NAME = "mergeGrids";

  /** The new function, and the loop over all work. */
  public record Result(PrimFunc func, Var work) {}

  private final Check check;
  private final Stmt.For first;
  private final Stmt.For second;
  private final Ranges ranges;

  private MergeGrids(Check check, Stmt.For first, Stmt.For second, Ranges ranges) {
    this.check = check;
    this.first = first;
    this.second = second;
    this.ranges = ranges;
  }

  public static Result apply(
      PrimFunc func, Var firstVar, Var secondVar, WorkOrder order, WaitPolicy policy) {
    Check check = new Check(NAME, func);
    Stmt.For first = LoopKind.serialLoop(check, firstVar);
    Stmt.For second = LoopKind.serialLoop(check, secondVar);
    List<Stmt> path = check.loop(1, firstVar);
    Stmt around = path.size() > 1 ? path.get(path.size() - 2) : first;
    if (!(around instanceof Stmt.Seq seq)
        || seq.stmts().indexOf(second) != seq.stmts().indexOf(first) + 1) {
      throw check.error(
          2, "loop " + secondVar + " does not come right after loop " + firstVar, second);
    }
    Ranges ranges = Tree.ranges(func, path.subList(0, path.size() - 1));
    MergeGrids merge = new MergeGrids(check, first, second, ranges);
    check.independent(3, List.of(first), first.body(), ranges);
    check.independent(3, List.of(second), second.body(), ranges);
    Set<Buffer> shared = merge.shared();
    Stmt.For both =
        switch (order) {
          case SEQUENCE -> merge.sequence();
          case ROWS -> merge.rows(shared);
        };
    if (policy.part() == WaitPolicy.Part.ROWS && !shared.isEmpty()) {
      merge.rowsOfTiles(6);
      shared.forEach(buffer -> merge.requireRows(6, buffer, true));
    }
    boolean more = policy.part() == WaitPolicy.Part.GRID || policy.rows() > 1;
    check.require(
        7,
        order != WorkOrder.ROWS
            || !more
            || shared.isEmpty()
            || merge.rowsOfTiles(7).equals(Forms.of(Exprs.i32(1))),
        "a tile would wait for rows of tiles behind its own",
        second);
    both = both.withAttrs(merge.attrs(order, policy, shared));
    List<Stmt> stmts = new ArrayList<>(seq.stmts());
    int at = stmts.indexOf(first);
    stmts.set(at, both);
    stmts.remove(at + 1);
    Stmt merged = stmts.size() == 1 ? both : new Stmt.Seq(stmts);
    return new Result(Tree.replace(func, seq, merged), both.var());
  }

  /** What the second loop reads of the first. */
  private Set<Buffer> shared() {
    Set<Buffer> computed = Accesses.written(first);
    Set<Buffer> touched = new HashSet<>(computed);
    touched.addAll(Accesses.read(first));
    touched.retainAll(Accesses.written(second));
    check.require(
        4,
        touched.isEmpty(),
        touched.isEmpty()
            ? ""
            : "both loops touch " + touched.iterator().next().name() + ", which the second writes",
        second);
    Set<Buffer> shared = new HashSet<>(computed);
    shared.retainAll(Accesses.read(second));
    for (Buffer buffer : shared) {
      check.require(
          4,
          buffer.scope() == Scope.GLOBAL,
          buffer.name() + ", which is handed on, is not in global memory",
          second);
    }
    return shared;
  }

  private Attrs attrs(WorkOrder order, WaitPolicy policy, Set<Buffer> shared) {
    FusedOrder merged =
        switch (order) {
          case SEQUENCE -> new FusedOrder.Sequence(order(first), order(second));
          case ROWS -> new FusedOrder.Rows();
        };
    Attrs attrs =
        Attrs.NONE
            .with(FusedOrder.ORDER, merged.text())
            .with(FusedOrder.COLUMNS, columns(first))
            .with(FusedOrder.SECOND_COLUMNS, columns(second));
    if (shared.isEmpty()) {
      return attrs;
    }
    String waits = shared.stream().map(Buffer::name).sorted().collect(Collectors.joining(","));
    return attrs.with("wait", policy.text()).with("waits", waits);
  }

  /** In which order the tiles of a loop are computed. */
  private static dev.warpwright.ir.order.BlockOrder order(Stmt.For loop) {
    String text = loop.attrs().getString("order");
    return text == null
        ? new dev.warpwright.ir.order.BlockOrder.Row()
        : dev.warpwright.ir.order.BlockOrder.parse(text);
  }

  private Stmt.For loop(Expr extent, Var work, Expr isFirst, Stmt then, Stmt otherwise) {
    return Stmt.For.of(ForKind.SERIAL, work, extent, new Stmt.If(isFirst, then, otherwise));
  }

  private static Stmt body(Stmt.For loop, Expr value) {
    return Substitution.ofVars(Map.of(loop.var(), value)).stmt(loop.body());
  }

  /** The body of a loop over tiles with their coordinates; {@code columns} in a row. */
  private static Stmt body(Stmt.For loop, long columns, Expr row, Expr column) {
    Expr whole = columns == 1 ? row : Exprs.add(Exprs.mul(row, columns), column);
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        if (e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
            && a == loop.var()
            && Exprs.isConst(b, columns)) {
          if (op == BinaryOp.DIV) {
            return row;
          }
          if (op == BinaryOp.MOD) {
            return column;
          }
        }
        return e == loop.var() ? whole : super.expr(e);
      }
    }.stmt(loop.body());
  }

  private Var work() {
    return Var.index(first.var().name() + "_" + second.var().name());
  }

  private Stmt.For sequence() {
    Var x = work();
    return loop(
        Exprs.add(first.extent(), second.extent()),
        x,
        Exprs.lt(x, first.extent()),
        body(first, x),
        body(second, Exprs.sub(x, first.extent())));
  }

  private Stmt.For rows(Set<Buffer> shared) {
    long t = columns(first);
    long u = columns(second);
    LinearForm rows = rowsOfTiles(5);
    shared.forEach(buffer -> requireRows(5, buffer, false));
    Var x = work();
    Expr row = Exprs.div(x, t + u);
    Expr column = Exprs.mod(x, t + u);
    return loop(
        Exprs.mul(rows.toExpr(), t + u),
        x,
        Exprs.lt(column, Exprs.i32(t)),
        body(first, t, row, column),
        body(second, u, row, Exprs.sub(column, Exprs.i32(t))));
  }

  /** The number of rows of tiles, the same for both loops. */
  private LinearForm rowsOfTiles(int requirement) {
    LinearForm rows = Forms.of(Exprs.div(first.extent(), columns(first)));
    check.require(
        requirement,
        rows.equals(Forms.of(Exprs.div(second.extent(), columns(second)))),
        "the loops have different numbers of rows of tiles",
        second);
    return rows;
  }

  /** Tiles in a row: 1 for a loop over rows. */
  private static long columns(Stmt.For loop) {
    return loop.attrs().getLong("columns", 1);
  }

  /**
   * That a row of tiles reads what rows up to this one compute: in some dimension at least.
   *
   * @param same whether it reads nothing of earlier rows either
   */
  private void requireRows(int requirement, Buffer buffer, boolean same) {
    if (rowsOfTiles(requirement).equals(Forms.of(Exprs.i32(1)))) {
      return;
    }
    long t = columns(first);
    long u = columns(second);
    List<Access> writes =
        Accesses.of(first.body(), buffer).stream().filter(Access::isWrite).toList();
    List<Access> reads = Accesses.of(second.body(), buffer);
    Region written = Hull.of(writes, ranges.with(first.var(), Ranges.of(first)));
    Region read = Hull.of(reads, ranges.with(second.var(), Ranges.of(second)));
    for (int d = 0; d < buffer.rank(); d++) {
      Range w = written.ranges().get(d);
      Range r = read.ranges().get(d);
      LinearForm from = Forms.of(w.min(), ranges);
      LinearForm to = Forms.of(r.min(), ranges);
      Expr rowOfFirst = Exprs.div(first.var(), t);
      Expr rowOfSecond = Exprs.div(second.var(), u);
      long step = from.terms().getOrDefault(rowOfFirst, 0L);
      if (step > 0
          && from.terms().size() == 1
          && to.terms().size() == 1
          && to.terms().getOrDefault(rowOfSecond, 0L) == step
          && r.extent() instanceof Expr.IntImm size
          && to.constant() + size.value() <= from.constant() + step
          && (!same || to.constant() >= from.constant())) {
        return;
      }
    }
    throw check.error(
        requirement,
        "a row of tiles of loop "
            + second.var()
            + " may read rows of "
            + buffer.name()
            + " that are computed "
            + (same ? "in another row of tiles" : "later"),
        second);
  }
}
