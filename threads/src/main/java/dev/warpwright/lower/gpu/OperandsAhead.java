package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.lower.pass.LoweringException;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The products of a pipelined loop by {@code mma.sync}, whose operands come into registers one
 * instruction's depth ahead: also across the barrier behind which the next stage is complete, which
 * therefore moves in front of the last products of a step.
 *
 * <pre>{@code
 *                                       arrive; read As[0], Bs[0] at 0
 * for k in n {                          for k in n {
 *   arrive                                fill a stage
 *   fill a stage                    →     unroll kk in depth {
 *   acc += As[k % 3] * Bs[k % 3]            if kk == depth - 1 { arrive }
 * }                                         read the next depth's operands; multiply at kk
 *                                       } }
 * }</pre>
 */
public final class OperandsAhead {
  private final MmaOperands operands;
  private final Buffer sums;
  private final FragmentLayout layout;
  private final Var tid;
  private final Var lane = Var.index("lane");
  private final Var row = Var.index("warp_m");
  private final Var column = Var.index("warp_n");

  private OperandsAhead(MmaOperands operands, Buffer sums, FragmentLayout layout, Var tid) {
    this.operands = operands;
    this.sums = sums;
    this.layout = layout;
    this.tid = tid;
  }

  /**
   * Of a product.
   *
   * @param a the ring whose stages are its left operand
   * @param b the ring of its right operand
   * @throws LoweringException if no instruction multiplies these tiles
   */
  public static OperandsAhead of(Stmt.TileMma mma, ThreadCode code, OperandRing a, OperandRing b) {
    FragmentLayout layout = code.layout(mma.c().buffer());
    if (layout.threads() != code.threads()) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "the GEMM into %s is spread over %d of %d threads",
              mma.c().buffer().name(),
              layout.threads(),
              code.threads()));
    }
    return new OperandsAhead(
        MmaOperands.of(mma, layout, a, b), code.registers(mma.c().buffer()), layout, code.thread());
  }

  /** Operands of a thread. */
  public List<Buffer> registers() {
    return List.of(operands.aRegisters(), operands.bRegisters());
  }

  /** Around the loop and what fills its first stages: where the warp's part of a tile begins. */
  public Stmt around(Stmt body) {
    return new Stmt.Let(
        lane,
        Exprs.mod(tid, 32),
        new Stmt.Let(
            row,
            operands.warpRow(layout, tid),
            new Stmt.Let(column, operands.warpColumn(layout, tid), body)));
  }

  /**
   * The code of the loop.
   *
   * @param step counts from 0
   * @param stage of a step
   * @param arrived makes the stage of the next step complete for all
   * @param begin begins to fill a stage further ahead
   * @param end ends that, in front of the next arrival
   */
  public Stmt loop(Var step, Expr steps, Expr stage, Stmt arrived, Stmt begin, Stmt end) {
    long depth = operands.depth();
    Stmt products =
        Stmts.loop(
            ForKind.UNROLLED,
            "kk",
            depth,
            kk -> {
              Expr last = Exprs.eq(kk, Exprs.i32(depth - 1));
              Expr following = Exprs.min(Exprs.add(step, 1), Exprs.sub(steps, Exprs.i32(1)));
              Expr next = new Expr.Select(last, following, step);
              Var from = Var.index("from");
              // Behind the last stage there is none: what is read then is not used.
              Stmt read =
                  new Stmt.Let(
                      from,
                      at(stage, step, next),
                      operands.load(from, Exprs.mod(Exprs.add(kk, 1), depth), row, column, lane));
              return Stmts.seq(
                  new Stmt.If(last, Stmts.seq(end, arrived), null),
                  read,
                  operands.multiply(sums, kk));
            });
    return Stmts.seq(
        arrived,
        operands.load(at(stage, step, Exprs.i32(0)), Exprs.i32(0), row, column, lane),
        Stmt.For.of(ForKind.SERIAL, step, steps, Stmts.seq(begin, products)));
  }

  private static Expr at(Expr stage, Var step, Expr other) {
    return Substitution.ofVars(Map.of(step, other)).expr(stage);
  }
}
