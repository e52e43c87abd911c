package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.lower.grid.TicketLoops;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Loops whose steps fill or read stages, as {@code LowerPipes} numbers them: each begins with 0,
 * and what was before it is known, or counted where items are drawn.
 */
public final class CountedLoops {
  private static final List<Expr> ZERO = List.of(Exprs.i32(0));

  /** Of loops that count on over all items, what they began with. */
  private final Map<Stmt, Expr> before = new IdentityHashMap<>();

  /** Of pipes whose stages are counted over items that are drawn, how many there were. */
  private final Map<Pipe, Buffer> done = new LinkedHashMap<>();

  private final Stmt counted;

  /** The loops of all that a role or a block does. */
  public CountedLoops(Stmt whole) {
    this.counted = new OverDrawnItems().stmt(fromZero(whole));
  }

  /** All of them. */
  public Stmt counted() {
    return counted;
  }

  /** By loop, how many steps were before it; nothing of loops that are all there is. */
  public Map<Stmt, Expr> before() {
    return before;
  }

  /** Inside the counters that it needs. */
  public Stmt around(Stmt s) {
    Stmt body = s;
    for (Buffer count : done.values()) {
      body = new Stmt.Alloc(count, Stmts.seq(new Stmt.Store(count, ZERO, Exprs.i32(0)), body));
    }
    return body;
  }

  /** Loops that count on begin with 0; that they did is noted. */
  private Stmt fromZero(Stmt s) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt inner) {
        Stmt result = super.stmt(inner);
        if (!(result instanceof Stmt.For f) || !f.attrs().has(DistributeWork.NUMBERED)) {
          return result;
        }
        Var k = Var.index(f.var().name());
        Stmt body = Substitution.ofVars(Map.of(f.var(), Exprs.add(f.min(), k))).stmt(f.body());
        Attrs attrs = f.attrs().without(DistributeWork.NUMBERED);
        Stmt.For loop = new Stmt.For(k, Exprs.i32(0), f.extent(), f.kind(), f.axis(), attrs, body);
        before.put(loop, f.min());
        return loop;
      }
    }.stmt(s);
  }

  /**
   * Of items that are drawn nobody knows how many steps were before: where a stage is some bits of
   * the number of its step, the steps are counted, as {@code let before = done; for k in n { … };
   * done = before + n}.
   */
  private final class OverDrawnItems extends Rewriter {
    private int drawn;

    @Override
    public Stmt stmt(Stmt s) {
      if (s instanceof Stmt.While || TicketLoops.isDrawn(s)) {
        drawn++;
        Stmt result = super.stmt(s);
        drawn--;
        return result;
      }
      Pipe pipe = drawn > 0 && s instanceof Stmt.For f ? ofEachStep(f) : null;
      if (pipe == null || Long.bitCount(pipe.stages()) != 1) {
        return super.stmt(s);
      }
      Stmt.For f = (Stmt.For) s;
      Buffer count = done.computeIfAbsent(pipe, p -> Buffer.of("done", DType.I32, Scope.LOCAL, 1));
      Var first = Var.index("before");
      before.put(f, first);
      Stmt more = new Stmt.Store(count, ZERO, Exprs.add(first, f.extent()));
      return new Stmt.Let(first, new Expr.Load(count, ZERO), Stmts.seq(f, more));
    }

    /** The pipe of which each step of a loop fills or reads one stage; null for none. */
    private @Nullable Pipe ofEachStep(Stmt.For f) {
      List<Stmt> steps = TileFacts.flat(f.body());
      return steps.size() != 1
          ? null
          : switch (steps.getFirst()) {
            case Stmt.Flow.Produce p -> p.pipe();
            case Stmt.Flow.Consume c when !c.peek() -> c.pipe();
            default -> null;
          };
    }
  }
}
