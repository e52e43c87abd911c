package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where in the ring of stages a role is. The number of a step tells it by a remainder and a
 * quotient, which are bits of it where stages are a power of two. Dividing by another number takes
 * as long as a step's first product, while which no others are started; so two variables are moved
 * on then:
 *
 * <pre>{@code
 * let stage = next; body
 * next = stage == stages - 1 ? 0 : stage + 1
 * parity ^= stage == stages - 1
 * }</pre>
 *
 * @param next stage of the next step, {@code i32[1]}; null where steps are numbered
 * @param parity of the phase that ends when that stage is full; null like {@code next}
 */
public record RingCursor(RingBarriers barriers, @Nullable Buffer next, @Nullable Buffer parity) {
  /** Code of a step. */
  public interface StepBody {
    /**
     * The code.
     *
     * @param parity that a consumer waits for
     * @param last stage of the step before
     */
    Stmt code(Expr parity, Expr stage, Expr last);
  }

  /**
   * A cursor of a role that goes through all steps of all its work items.
   *
   * @param wraps whether there may be more steps than stages
   */
  public static RingCursor of(RingBarriers barriers, boolean wraps) {
    return !wraps || Long.bitCount(barriers.stages()) == 1
        ? numbered(barriers)
        : counting(barriers);
  }

  /** A cursor of a role whose steps nobody can number. */
  public static RingCursor counting(RingBarriers barriers) {
    return new RingCursor(barriers, variable("next"), variable("parity"));
  }

  /** A cursor of a role whose steps are numbered by others. */
  public static RingCursor numbered(RingBarriers barriers) {
    return new RingCursor(barriers, null, null);
  }

  private static Buffer variable(String name) {
    return Buffer.of(name, DType.I32, Scope.LOCAL, 1);
  }

  /** The code of a role in which the variables are, which begin at the first stage. */
  public Stmt around(Stmt role) {
    if (next == null || parity == null) {
      return role;
    }
    return Stmts.alloc(
        List.of(next, parity), Stmts.seq(set(next, Exprs.i32(0)), set(parity, Exprs.i32(0)), role));
  }

  /**
   * The code of a step.
   *
   * @param number of all steps before it; means nothing to variables that are moved on
   */
  public Stmt step(Expr number, StepBody body) {
    Var stage = Var.index("stage");
    if (next == null || parity == null) {
      Var it = Var.index("it");
      return new Stmt.Let(
          it,
          number,
          new Stmt.Let(
              stage,
              barriers.stage(it),
              body.code(barriers.parity(it), stage, barriers.stageBefore(it))));
    }
    Expr wraps = Exprs.eq(stage, Exprs.i32(barriers.stages() - 1));
    return new Stmt.Let(
        stage,
        get(next),
        Stmts.seq(
            body.code(get(parity), stage, before(stage)),
            set(next, new Expr.Select(wraps, Exprs.i32(0), Exprs.add(stage, 1))),
            set(parity, Exprs.bitXor(get(parity), Exprs.cast(DType.I32, wraps)))));
  }

  /** The stage of the last step, where so many are done. */
  public Expr last(Expr steps) {
    return next == null ? barriers.stageBefore(steps) : before(get(next));
  }

  private Expr before(Expr stage) {
    return new Expr.Select(
        Exprs.eq(stage, Exprs.i32(0)), Exprs.i32(barriers.stages() - 1), Exprs.add(stage, -1));
  }

  private static Expr get(Buffer variable) {
    return new Expr.Load(variable, List.of(Exprs.i32(0)));
  }

  private static Stmt set(Buffer variable, Expr value) {
    return new Stmt.Store(variable, List.of(Exprs.i32(0)), value);
  }
}
