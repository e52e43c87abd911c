package dev.warpwright.lower.grid;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Draws items: what becomes of loops over them where statements become threads' code.
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
 * item. Where all threads of a block take an item together, one of them draws, waits and signals,
 * and the barrier with which each item ends ({@link ItemBarriers}) hands the next ticket on. Why
 * nothing waits for ever stands at {@link WorkTickets}.
 */
public final class TicketLoops {
  private static final List<Expr> ZERO = List.of(Exprs.i32(0));

  private final PrimFunc func;
  private final Expr blocks;

  /** Where the next ticket is handed on to all threads; null where one thread draws for itself. */
  private final @Nullable Buffer turn;

  private final UnaryOperator<Stmt> one;

  private TicketLoops(PrimFunc func, Expr blocks, @Nullable Buffer turn, UnaryOperator<Stmt> one) {
    this.func = func;
    this.blocks = blocks;
    this.turn = turn;
    this.one = one;
  }

  /**
   * Of the one thread of a role that starts TMA copies.
   *
   * @param blocks of the launch
   */
  public static TicketLoops ofThread(PrimFunc func, Expr blocks) {
    return new TicketLoops(func, blocks, null, UnaryOperator.identity());
  }

  /**
   * Of all threads of a block.
   *
   * @param blocks of the launch
   * @param one makes a statement that of the block's first thread
   */
  public static TicketLoops ofBlock(PrimFunc func, Expr blocks, UnaryOperator<Stmt> one) {
    return new TicketLoops(func, blocks, Buffer.of("turn", DType.I32, Scope.SHARED, 1), one);
  }

  /** Whether blocks draw the items of a loop. */
  public static boolean isDrawn(Stmt s) {
    return s instanceof Stmt.For f && f.attrs().has(FusedGemms.TICKETS);
  }

  /** The code with loops that draw instead of loops over items that are drawn. */
  public Stmt drawn(Stmt s) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt inner) {
        Stmt result = super.stmt(inner);
        return switch (result) {
          case Stmt.For f when isDrawn(f) -> loop(f);
          case Stmt.Flow.Await(Buffer counter, List<Expr> indices, Expr atLeast) ->
              awaited(WorkTickets.await(counter, indices, number(atLeast)));
          case Stmt.Flow.Signal(Buffer counter, List<Expr> indices, Expr by) ->
              one.apply(WorkTickets.publish(counter, indices, number(by)));
          default -> result;
        };
      }
    }.stmt(s);
  }

  /** TMA copies of the one thread read what other blocks have stored. */
  private Stmt awaited(Stmt wait) {
    return turn == null
        ? Stmts.seq(wait, Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC_GLOBAL))
        : one.apply(wait);
  }

  private long number(Expr e) {
    if (e instanceof Expr.IntImm n) {
      return n.value();
    }
    throw new LoweringException(func.name() + " counts tickets up to what is no constant");
  }

  private Stmt loop(Stmt.For f) {
    Buffer counters = WorkTickets.counters(func);
    Buffer ticket = Buffer.of("ticket", DType.I32, Scope.LOCAL, 1);
    Buffer next = Buffer.of("next", DType.I32, Scope.LOCAL, 1);
    Expr now = new Expr.Load(ticket, ZERO);
    Stmt ahead = one.apply(set(next, WorkTickets.draw(counters)));
    Stmt begin = set(turn == null ? ticket : turn, WorkTickets.draw(counters));
    Stmt again = set(ticket, new Expr.Load(turn == null ? next : turn, ZERO));
    Stmt item = f.body();
    if (turn != null) {
      begin = Stmts.seq(one.apply(begin), barrier(), again);
      item = handedOn(item, one.apply(set(turn, new Expr.Load(next, ZERO))));
      // Whoever hands on the next ticket comes behind a barrier behind which all have read theirs.
      ahead = barriers(item) < 2 ? Stmts.seq(ahead, barrier()) : ahead;
    }
    Stmt body = new Stmt.Let(f.var(), now, behindValues(item, ahead));
    Stmt loop =
        Stmts.alloc(
            List.of(ticket, next),
            Stmts.seq(
                begin,
                new Stmt.While(Exprs.lt(now, f.extent()), Stmts.seq(body, again)),
                one.apply(WorkTickets.leave(counters, number(blocks)))));
    return turn == null ? loop : new Stmt.Alloc(turn, loop);
  }

  /** The answer of a draw is not waited for by the loads that say what the item is. */
  private static Stmt behindValues(Stmt s, Stmt draw) {
    return s instanceof Stmt.Let(var v, Expr value, Stmt body)
        ? new Stmt.Let(v, value, behindValues(body, draw))
        : Stmts.seq(draw, s);
  }

  /** The next ticket is there for all behind the barrier with which an item ends. */
  private Stmt handedOn(Stmt item, Stmt put) {
    if (item instanceof Stmt.Let l) {
      return new Stmt.Let(l.var(), l.value(), handedOn(l.body(), put));
    }
    List<Stmt> stmts = new ArrayList<>(item instanceof Stmt.Seq(var all) ? all : List.of(item));
    int last = stmts.lastIndexOf(barrier());
    if (last < 0) {
      throw new LoweringException(func.name() + " has items that do not end with a barrier");
    }
    stmts.add(last, put);
    return Stmts.seq(stmts);
  }

  /** How many barriers there are on each way at least. */
  private static int barriers(Stmt s) {
    return switch (s) {
      case Stmt.Evaluate(Expr.Call call) -> call.op() == Intrinsics.SYNC_THREADS ? 1 : 0;
      case Stmt.If i ->
          i.otherwise() == null ? 0 : Math.min(barriers(i.then()), barriers(i.otherwise()));
      case Stmt.For f ->
          f.extent() instanceof Expr.IntImm n && n.value() > 0 ? barriers(f.body()) : 0;
      case Stmt.While _ -> 0;
      default -> Stmts.children(s).stream().mapToInt(TicketLoops::barriers).sum();
    };
  }

  private static Stmt barrier() {
    return Exprs.evaluate(Intrinsics.SYNC_THREADS);
  }

  private static Stmt set(Buffer one, Expr value) {
    return new Stmt.Store(one, ZERO, value);
  }
}
