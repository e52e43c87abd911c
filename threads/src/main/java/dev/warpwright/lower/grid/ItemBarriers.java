package dev.warpwright.lower.grid;

import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;

/**
 * Lets all threads of a block meet where an item ends that blocks draw: what it has written is
 * there before its signal, what it has read in shared memory is free, and the next item is known to
 * all. And behind a wait, for one thread waits.
 *
 * <pre>{@code
 * persistent ticket in n [tickets = 1] {     persistent ticket in n [tickets = 1] {
 *   let entry = order[ticket]                  let entry = order[ticket]
 *   if entry >= 0 {                            if entry >= 0 {
 *     S                                          S
 *     signal counters[…] by 1u32         →     } else {
 *   } else {                                     await counters[…] >= 4u32; sync_threads()
 *     await counters[…] >= 4u32                  R
 *     R                                        }
 *   }                                          sync_threads()
 * }                                            if entry >= 0 { signal counters[…] by 1u32 }
 *                                            }
 * }</pre>
 *
 * <p>Stands in front of what places other barriers, which count on these, and of {@link
 * TicketLoops}. Roles need none of it: they meet at pipes.
 */
public final class ItemBarriers {
  private static final Stmt BARRIER = Exprs.evaluate(Intrinsics.SYNC_THREADS);

  private ItemBarriers() {}

  /** Whether a statement is such a barrier. */
  static boolean isBarrier(Stmt s) {
    return s.equals(BARRIER);
  }

  /** Places barriers in loops over items that are drawn; other programs stay as they are. */
  public static Stmt apply(Stmt body) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        return s instanceof Stmt.For f && TicketLoops.isDrawn(f)
            ? f.withBody(meeting(f.body()))
            : super.stmt(s);
      }
    }.stmt(body);
  }

  /** The values that say what an item is stay around all of it. */
  private static Stmt meeting(Stmt item) {
    if (item instanceof Stmt.Let l) {
      return new Stmt.Let(l.var(), l.value(), meeting(l.body()));
    }
    return Stmts.seq(work(item), BARRIER, signals(item));
  }

  /** What an item does, but its last signal; all threads meet behind each wait. */
  private static Stmt work(Stmt s) {
    return switch (s) {
      case Stmt.Flow.Signal _ -> Stmt.Seq.EMPTY;
      case Stmt.Flow.Await _ -> Stmts.seq(s, BARRIER);
      case Stmt.Seq(List<Stmt> stmts) when !stmts.isEmpty() -> {
        List<Stmt> result = new ArrayList<>();
        for (Stmt each : stmts.subList(0, stmts.size() - 1)) {
          boolean waits = each instanceof Stmt.Flow.Await || each instanceof Stmt.For;
          result.add(waits ? work(each) : each);
        }
        result.add(work(stmts.getLast()));
        yield Stmts.seq(result);
      }
      case Stmt.Let l -> new Stmt.Let(l.var(), l.value(), work(l.body()));
      case Stmt.Alloc a -> new Stmt.Alloc(a.buffer(), work(a.body()));
      case Stmt.If i ->
          new Stmt.If(
              i.condition(), work(i.then()), i.otherwise() == null ? null : work(i.otherwise()));
      case Stmt.For f -> f.withBody(behindWaits(f.body()));
      default -> s;
    };
  }

  /** All threads meet behind each wait inside of a loop. */
  private static Stmt behindWaits(Stmt s) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt inner) {
        return inner instanceof Stmt.Flow.Await ? Stmts.seq(inner, BARRIER) : super.stmt(inner);
      }
    }.stmt(s);
  }

  /** The last signal, under the conditions and values around it. */
  private static Stmt signals(Stmt s) {
    return switch (s) {
      case Stmt.Flow.Signal _ -> s;
      case Stmt.Seq(List<Stmt> stmts) when !stmts.isEmpty() -> signals(stmts.getLast());
      case Stmt.Let l -> {
        Stmt body = signals(l.body());
        yield body.equals(Stmt.Seq.EMPTY) ? body : new Stmt.Let(l.var(), l.value(), body);
      }
      case Stmt.Alloc a -> signals(a.body());
      case Stmt.If i -> {
        Stmt then = signals(i.then());
        Stmt otherwise = i.otherwise() == null ? Stmt.Seq.EMPTY : signals(i.otherwise());
        boolean only = otherwise.equals(Stmt.Seq.EMPTY);
        yield only && then.equals(Stmt.Seq.EMPTY)
            ? then
            : new Stmt.If(i.condition(), then, only ? null : otherwise);
      }
      default -> Stmt.Seq.EMPTY;
    };
  }
}
