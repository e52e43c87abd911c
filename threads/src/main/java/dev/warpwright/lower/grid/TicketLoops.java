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
 * }                                      …
 *                                        ticket[0] = draw
 *                                      }
 *                                      the last block to leave sets the counters to zero
 * }</pre>
 *
 * <p>A ticket is drawn when its block comes to the end of the item before, not ahead: who waits, or
 * has a long item, would keep it from all others, who may wait for it. The answer still costs
 * nobody time. The one thread of a role that starts copies is ahead of those who multiply by a
 * ring. Where all threads of a block take an item together, one of them draws behind the last loop
 * in which they meet, so that the answer comes while results are stored, and waits and signals for
 * all; the barrier with which each item ends ({@link ItemBarriers}) hands the next ticket on. Why
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
              awaited(WorkTickets.await(counter, indices, atLeast));
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
    Expr now = new Expr.Load(ticket, ZERO);
    Expr draw = WorkTickets.draw(counters);
    Stmt leave = one.apply(WorkTickets.leave(counters, number(blocks)));
    Expr more = Exprs.lt(now, f.extent());
    if (turn == null) {
      Stmt again = set(ticket, draw);
      Stmt body = Stmts.seq(new Stmt.Let(f.var(), now, f.body()), again);
      return new Stmt.Alloc(ticket, Stmts.seq(again, new Stmt.While(more, body), leave));
    }
    Buffer next = Buffer.of("next", DType.I32, Scope.LOCAL, 1);
    Stmt begin = Stmts.seq(one.apply(set(turn, draw)), barrier());
    Stmt again = set(ticket, new Expr.Load(turn, ZERO));
    Stmt item = handedOn(f.body(), one.apply(set(turn, new Expr.Load(next, ZERO))));
    // Whoever hands on the next ticket comes behind a barrier behind which all have read theirs.
    item = barriers(item) < 2 ? Stmts.seq(barrier(), item) : item;
    Stmt body = new Stmt.Let(f.var(), now, behindLastLoop(item, one.apply(set(next, draw))));
    return Stmts.alloc(
        List.of(turn, ticket, next),
        Stmts.seq(begin, again, new Stmt.While(more, Stmts.seq(body, again)), leave));
  }

  /** Draws once on each way: where all threads have met for the last time inside a loop. */
  private static Stmt behindLastLoop(Stmt s, Stmt draw) {
    return switch (s) {
      case Stmt.Let(var v, Expr value, Stmt body) ->
          new Stmt.Let(v, value, behindLastLoop(body, draw));
      case Stmt.Alloc(Buffer buffer, Stmt body) ->
          new Stmt.Alloc(buffer, behindLastLoop(body, draw));
      case Stmt.If i when i.otherwise() != null && meetInLoops(s) ->
          new Stmt.If(
              i.condition(), behindLastLoop(i.then(), draw), behindLastLoop(i.otherwise(), draw));
      case Stmt.Seq(List<Stmt> all) when meetInLoops(s) -> {
        List<Stmt> result = new ArrayList<>(all);
        int last = all.size() - 1;
        while (!meetInLoops(all.get(last))) {
          last--;
        }
        result.set(last, behindLastLoop(all.get(last), draw));
        yield Stmts.seq(result);
      }
      default -> meetInLoops(s) ? Stmts.seq(s, draw) : Stmts.seq(draw, s);
    };
  }

  private static boolean meetInLoops(Stmt s) {
    return s instanceof Stmt.For f
        ? meet(f.body())
        : Stmts.children(s).stream().anyMatch(TicketLoops::meetInLoops);
  }

  private static boolean meet(Stmt s) {
    return s.equals(barrier()) || Stmts.children(s).stream().anyMatch(TicketLoops::meet);
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
