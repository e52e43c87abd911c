package dev.warpwright.lower.pass;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts a block barrier before every unit that reads memory which another thread of the block may
 * have written since the last barrier, or writes what another may have read or written.
 *
 * <pre>{@code
 * tile.copy As <- A         tile.copy As <- A
 * tile.mma acc += As * …  → sync_threads()
 *                           tile.mma acc += As * …
 * }</pre>
 *
 * <p>A unit is a statement in which no thread meets another's data, and which all threads come to:
 * so a barrier is never inside one, and cannot diverge. Which statements are units, and which
 * buffers share memory, is for those to say who extend this.
 */
public abstract class Barriers {
  private final Intrinsic barrier;

  /** Of a block's threads. */
  protected Barriers() {
    this(Intrinsics.SYNC_THREADS);
  }

  /**
   * Places barriers for those threads that meet at this one.
   *
   * @param barrier an intrinsic without operands
   */
  protected Barriers(Intrinsic barrier) {
    this.barrier = barrier;
  }

  /**
   * Buffers that a unit touches, or all since the last barrier.
   *
   * @param reads buffers that are read
   * @param writes buffers that are written
   */
  public record Touched(Set<Buffer> reads, Set<Buffer> writes) {
    /** {@return sets that nothing is in yet} */
    public static Touched nothing() {
      return new Touched(new LinkedHashSet<>(), new LinkedHashSet<>());
    }

    private Touched copy() {
      return new Touched(new LinkedHashSet<>(reads), new LinkedHashSet<>(writes));
    }

    private void addAll(Touched other) {
      reads.addAll(other.reads);
      writes.addAll(other.writes);
    }

    private void clear() {
      reads.clear();
      writes.clear();
    }
  }

  /**
   * {@return what a unit touches; null if the statement is none, but may hold some}
   *
   * @param s any statement
   */
  protected abstract @Nullable Touched unit(Stmt s);

  /**
   * {@return whether what is done with one buffer may be seen in another}
   *
   * @param a one buffer
   * @param b the other
   */
  protected boolean overlap(Buffer a, Buffer b) {
    return a == b;
  }

  /**
   * {@return a unit whose barriers are in place, as it goes on from here; null of others}
   *
   * @param unit as it was before
   */
  protected @Nullable Stmt placed(Stmt unit) {
    return null;
  }

  /**
   * {@return the program with its barriers}
   *
   * @param body without barriers
   */
  public final Stmt in(Stmt body) {
    return visit(body, Touched.nothing());
  }

  private Stmt visit(Stmt s, Touched before) {
    Touched unit = unit(s);
    if (unit != null) {
      return unit(s, unit, before);
    }
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> {
        List<Stmt> result = new ArrayList<>();
        for (Stmt inner : stmts) {
          result.add(visit(inner, before));
        }
        yield Stmts.seq(result);
      }
      case Stmt.For loop when loop.kind() == ForKind.THREAD_BOUND ->
          loop.withBody(visit(loop.body(), before));
      case Stmt.For loop -> {
        // The second iteration meets what the first one left behind.
        Touched once = before.copy();
        visit(loop.body(), once);
        before.addAll(once);
        yield loop.withBody(visit(loop.body(), before));
      }
      case Stmt.Alloc(Buffer buffer, Stmt inner) -> new Stmt.Alloc(buffer, visit(inner, before));
      case Stmt.Let let -> new Stmt.Let(let.var(), let.value(), visit(let.body(), before));
      case Stmt.If(Expr condition, Stmt then, Stmt otherwise) -> {
        Touched other = before.copy();
        Stmt first = visit(then, before);
        Stmt second = otherwise == null ? null : visit(otherwise, other);
        before.addAll(other);
        yield new Stmt.If(condition, first, second);
      }
      default -> s;
    };
  }

  private Stmt unit(Stmt s, Touched unit, Touched before) {
    if (s instanceof Stmt.Evaluate(Expr.Call call) && call.op() == barrier) {
      before.clear();
      return s;
    }
    Stmt placed = placed(s);
    boolean conflict =
        placed == null
            && (overlap(unit.reads, before.writes)
                || overlap(unit.writes, before.writes)
                || overlap(unit.writes, before.reads));
    if (conflict) {
      before.clear();
    }
    before.addAll(unit);
    return placed != null ? placed : conflict ? Stmts.seq(Exprs.evaluate(barrier), s) : s;
  }

  private boolean overlap(Set<Buffer> some, Set<Buffer> others) {
    return some.stream().anyMatch(a -> others.stream().anyMatch(b -> overlap(a, b)));
  }
}
