package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The inner part of a matrix multiplication: a few rows times one panel, or times several panels
 * side by side where the rows alone would leave the arithmetic waiting for itself and the memory
 * without enough requests; accumulated in registers over all of k in ascending order.
 *
 * @param c accumulator in memory, f32
 * @param a left operand
 * @param panel right operand
 * @param lanes of a vector
 * @param fresh whether the accumulators start at zero and not at c
 * @param panels side by side
 * @param epilogue what is stored instead of the accumulators, or null
 */
record MicroKernel(
    Buffer c,
    Buffer a,
    PanelPlan.Panel panel,
    long depth,
    int lanes,
    boolean fresh,
    int panels,
    @Nullable OnRegisters epilogue) {
  /** Twice the latency of a multiply-add, for two of them in a cycle. */
  private static final int ENOUGH_SUMS = 8;

  /** Stores a formula of accumulators. */
  @FunctionalInterface
  interface OnRegisters {
    /**
     * One vector.
     *
     * @param acc the accumulators
     * @param row of c
     * @param column first column of the panel in c
     * @param r row of acc
     * @param v first column of acc
     */
    Stmt store(Buffer acc, Expr row, Expr column, int r, int v);
  }

  /**
   * The statement.
   *
   * @param rows how many
   * @param cRow first row in c
   * @param cColumn first column in c
   * @param aRow first row in a
   * @param aColumn k = 0 in a
   * @param index which panel is the first
   * @param k k = 0 in the panel
   */
  Stmt of(int rows, Expr cRow, Expr cColumn, Expr aRow, Expr aColumn, Expr index, Expr k) {
    int each = panel.nr() / lanes;
    int vectors = panels * each;
    Buffer acc = Buffer.of("acc", DType.F32, Scope.LOCAL, rows, (long) vectors * lanes);
    Type vector = Type.F32.withLanes(lanes);
    List<Stmt> begin = new ArrayList<>();
    List<Stmt> end = new ArrayList<>();
    for (int r = 0; r < rows; r++) {
      for (int v = 0; v < vectors; v++) {
        Expr[] register = {Exprs.i32(r), ramp(Exprs.i32(v * lanes))};
        Expr[] memory = {Exprs.add(cRow, r), ramp(Exprs.add(cColumn, v * lanes))};
        Expr initial = fresh ? Exprs.zero(vector) : Exprs.load(c, memory);
        begin.add(new Stmt.Store(acc, List.of(register), initial));
        end.add(
            epilogue == null
                ? new Stmt.Store(c, List.of(memory), Exprs.load(acc, register))
                : epilogue.store(acc, Exprs.add(cRow, r), cColumn, r, v * lanes));
      }
    }
    Var step = Var.index("k");
    Var[] b = new Var[vectors];
    for (int v = 0; v < vectors; v++) {
      b[v] = new Var("b" + v, vector);
    }
    List<Stmt> rowSteps = new ArrayList<>();
    for (int r = 0; r < rows; r++) {
      Var broadcast = new Var("a" + r, vector);
      List<Stmt> updates = new ArrayList<>();
      for (int v = 0; v < vectors; v++) {
        Expr[] register = {Exprs.i32(r), ramp(Exprs.i32(v * lanes))};
        updates.add(
            new Stmt.Store(
                acc, List.of(register), Exprs.fma(broadcast, b[v], Exprs.load(acc, register))));
      }
      Expr element = Exprs.load(a, Exprs.add(aRow, r), Exprs.add(aColumn, step));
      rowSteps.add(
          new Stmt.Let(broadcast, broadcast(Exprs.cast(DType.F32, element)), Stmts.seq(updates)));
    }
    Stmt body = Stmts.seq(rowSteps);
    for (int v = vectors - 1; v >= 0; v--) {
      Expr load =
          Exprs.load(
              panel.buffer(),
              Exprs.add(index, v / each),
              Exprs.add(k, step),
              ramp(Exprs.i32(v % each * lanes)));
      Expr wide = load.type().equals(vector) ? load : new Expr.Cast(vector, load);
      body = new Stmt.Let(b[v], wide, body);
    }
    Stmt loop = Stmt.For.of(ForKind.SERIAL, step, Exprs.i32(depth), body);
    return new Stmt.Alloc(acc, Stmts.seq(Stmts.seq(begin), loop, Stmts.seq(end)));
  }

  private Expr ramp(Expr base) {
    return lanes == 1 ? base : new Expr.Ramp(base, 1, lanes);
  }

  private Expr broadcast(Expr value) {
    return lanes == 1 ? value : new Expr.Broadcast(value, lanes);
  }

  /**
   * Panels side by side for so many rows: up to four, so that there are enough sums at a time that
   * do not wait for each other.
   */
  static int panels(int rows, int vectors, VectorMachine target) {
    int panels = 1;
    while (panels < 4
        && rows * vectors * panels < ENOUGH_SUMS
        && (rows + 1) * vectors * (panels + 1) + 1 <= target.registers() - 2) {
      panels++;
    }
    return panels;
  }

  /** Most rows for which the accumulators, one row of b and a broadcast fit the registers. */
  static int mostRows(int vectors, VectorMachine target) {
    int budget = target.registers() - vectors - 2;
    return Math.max(1, Math.min(12, budget / vectors));
  }
}
