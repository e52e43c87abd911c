package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.grid.WorkTickets;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.List;

/**
 * The part of {@code LowerTiles} that draws items: the code of the one thread that does.
 *
 * <pre>{@code
 * for ticket in n [tickets = 1] {      ticket[0] = draw
 *   let entry = order[ticket]          while ticket[0] < n {
 *   …                             →      let entry = order[ticket[0]]
 * }                                      next[0] = draw
 *                                        …
 *                                        ticket[0] = next[0]
 *                                      }
 *                                      the last block to leave sets the counters to zero
 * }</pre>
 *
 * <p>A ticket is drawn while the item before it is done, for the answer takes as long as a short
 * item. Why nothing waits for ever stands at {@link WorkTickets}.
 */
final class TicketLoops {
  private static final List<Expr> ZERO = List.of(Exprs.i32(0));

  private final PrimFunc func;
  private final Expr blocks;

  /**
   * Of a program.
   *
   * @param blocks of its launch
   */
  TicketLoops(PrimFunc func, Expr blocks) {
    this.func = func;
    this.blocks = blocks;
  }

  /** A thread's code, with loops that draw instead of loops over items that are drawn. */
  Stmt drawn(Stmt s) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt inner) {
        Stmt result = super.stmt(inner);
        return switch (result) {
          case Stmt.For f when StageNumbers.isDrawn(f) -> loop(f);
          // TMA copies read what other blocks have stored.
          case Stmt.Flow.Await(Buffer counter, List<Expr> indices, Expr atLeast) ->
              Stmts.seq(
                  WorkTickets.await(counter, indices, number(atLeast)),
                  Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC_GLOBAL));
          default -> result;
        };
      }
    }.stmt(s);
  }

  private long number(Expr e) {
    if (e instanceof Expr.IntImm n) {
      return n.value();
    }
    throw new LoweringException(func.name() + " counts tickets up to what is no constant");
  }

  private Stmt loop(Stmt.For f) {
    Buffer counters = counters();
    Buffer ticket = Buffer.of("ticket", DType.I32, Scope.LOCAL, 1);
    Buffer next = Buffer.of("next", DType.I32, Scope.LOCAL, 1);
    Expr now = new Expr.Load(ticket, ZERO);
    Stmt body =
        new Stmt.Let(f.var(), now, behindValues(f.body(), set(next, WorkTickets.draw(counters))));
    return Stmts.alloc(
        List.of(ticket, next),
        Stmts.seq(
            set(ticket, WorkTickets.draw(counters)),
            new Stmt.While(
                Exprs.lt(now, f.extent()), Stmts.seq(body, set(ticket, new Expr.Load(next, ZERO)))),
            WorkTickets.leave(counters, number(blocks))));
  }

  /** The answer of a draw is not waited for by the loads that say what the item is. */
  private static Stmt behindValues(Stmt s, Stmt draw) {
    return s instanceof Stmt.Let(Var v, Expr value, Stmt body)
        ? new Stmt.Let(v, value, behindValues(body, draw))
        : Stmts.seq(draw, s);
  }

  private Buffer counters() {
    String name = func.attrs().getString("zero");
    for (Param param : func.params()) {
      if (param instanceof Buffer buffer && buffer.name().equals(name)) {
        return buffer;
      }
    }
    throw new LoweringException(func.name() + " has items to be drawn, but nothing counts them");
  }

  private static Stmt set(Buffer one, Expr value) {
    return new Stmt.Store(one, ZERO, value);
  }
}
