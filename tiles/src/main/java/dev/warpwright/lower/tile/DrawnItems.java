package dev.warpwright.lower.tile;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.grid.TicketLoops;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link AssignRoles} that hands items on which are drawn: nobody can draw the same
 * item twice, so one role draws, and the other one learns from a pipe what there is to do.
 *
 * <pre>{@code
 * role load {                                  role math {
 *   persistent ticket in n [tickets = 1] {       alloc now: i32[1] local
 *     let entry = order[ticket]                  consume items { now[0] = item[] }
 *     produce items { item[] = entry }           while now[0] != -1 {
 *     …                                            let entry = now[0]
 *   }                                              …
 *   produce items { item[] = -1 }                  consume items { now[0] = item[] }
 * }                                            } }
 * }</pre>
 *
 * <p>Requires: what is drawn says what is to be done by one value, which is never -1.
 */
final class DrawnItems {
  /** Behind the last item. */
  private static final int END = -1;

  private final Buffer item = Buffer.of("item", DType.I32, Scope.SHARED, List.of());
  private final Pipe pipe;

  /** Items that are known ahead, up to so many. */
  DrawnItems(int stages) {
    this.pipe = new Pipe("items", stages, Scope.SHARED, List.of(item), Pipe.Options.NONE);
  }

  /** The loop over items that are drawn; null if there is none. */
  static Stmt.@Nullable For loop(Stmt s) {
    return TileFacts.loops(s, ForKind.PERSISTENT).stream()
        .filter(TicketLoops::isDrawn)
        .findFirst()
        .orElse(null);
  }

  /** Both roles, around them the pipe. */
  Stmt handedOn(Role load, Role math) {
    return new Stmt.Flow.PipeScope(pipe, new Stmt.Flow.Roles(List.of(load, math)));
  }

  /** What whoever draws does. */
  Stmt drawing(Stmt load) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        if (!(s instanceof Stmt.For f) || !TicketLoops.isDrawn(f)) {
          return super.stmt(s);
        }
        Stmt.Let told = told(f);
        Stmt body = Stmts.seq(produce(told.var()), told.body());
        Stmt loop = f.withBody(new Stmt.Let(told.var(), told.value(), body));
        return Stmts.seq(loop, produce(Exprs.i32(END)));
      }
    }.stmt(load);
  }

  /** What whoever is told does. */
  Stmt following(Stmt math) {
    Buffer now = Buffer.of("now", DType.I32, Scope.LOCAL, 1);
    Expr told = new Expr.Load(now, List.of(Exprs.i32(0)));
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        if (!(s instanceof Stmt.For f) || !TicketLoops.isDrawn(f)) {
          return super.stmt(s);
        }
        Stmt.Let let = told(f);
        if (TileFacts.mentions(let.body(), Set.of(f.var()))) {
          throw new PassRefusal("what is drawn is not told by one value");
        }
        Stmt next =
            new Stmt.Flow.Consume(
                pipe,
                false,
                new Stmt.Store(now, List.of(Exprs.i32(0)), new Expr.Load(item, List.of())));
        Stmt all = Stmts.seq(new Stmt.Let(let.var(), told, let.body()), next);
        Expr more = new Expr.Binary(BinaryOp.NE, told, Exprs.i32(END));
        return new Stmt.Alloc(now, Stmts.seq(next, new Stmt.While(more, all)));
      }
    }.stmt(math);
  }

  private Stmt produce(Expr value) {
    return new Stmt.Flow.Produce(pipe, new Stmt.Store(item, List.of(), value));
  }

  /** The first value that an item computes. */
  private static Stmt.Let told(Stmt.For f) {
    if (!(TileFacts.flat(f.body()).getFirst() instanceof Stmt.Let let)
        || TileFacts.flat(f.body()).size() != 1
        || !TileFacts.mentions(let.value(), Set.of(f.var()))) {
      throw new PassRefusal("items that are drawn begin with the value that says what to do");
    }
    return let;
  }
}
