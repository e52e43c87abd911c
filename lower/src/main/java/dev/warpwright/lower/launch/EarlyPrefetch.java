package dev.warpwright.lower.launch;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.Folding;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.CacheHints;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a kernel reads first behind its wait for the launches before, asked for ahead of it: the
 * lines are on their way from memory to L2 while those launches end. It is no read, and L2 is where
 * all SMs' writes arrive, so that what a launch writes in between is seen.
 *
 * <pre>{@code
 * wait                       prefetch.l2(&x[row, col])
 * registers = x[row, col] →  wait
 *                            registers = x[row, col]
 * }</pre>
 */
final class EarlyPrefetch {
  /** Narrower reads are many, and share their lines with others of the same warp. */
  private static final int LEAST_BYTES = 8;

  private final Predicate<Buffer> written;
  private boolean stopped;

  private EarlyPrefetch(Predicate<Buffer> written) {
    this.written = written;
  }

  /**
   * Prefetches of what a statement reads into registers before it does anything else.
   *
   * @param first what stands behind the wait
   * @param written whether launches before may have written a buffer
   * @return nothing if it begins with anything else
   */
  static Stmt of(Stmt first, Predicate<Buffer> written) {
    return FreshNames.of(new EarlyPrefetch(written).asked(first));
  }

  private Stmt asked(Stmt s) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> {
        List<Stmt> asked = new ArrayList<>();
        for (Stmt inner : stmts) {
          if (!stopped) {
            asked.add(asked(inner));
          }
        }
        yield Stmts.seq(asked);
      }
      case Stmt.Alloc(Buffer buffer, Stmt body) when buffer.scope() == Scope.LOCAL -> asked(body);
      case Stmt.Let let when isKnown(let.value()) -> {
        Stmt asked = asked(let.body());
        yield isNothing(asked) ? asked : new Stmt.Let(let.var(), let.value(), asked);
      }
      case Stmt.If(Expr condition, Stmt then, @Nullable Stmt otherwise)
          when otherwise == null && isKnown(condition) ->
          guarded(condition, asked(then));
      case Stmt.For loop when loop.kind() == ForKind.UNROLLED && isKnown(loop.extent()) -> {
        Stmt asked = asked(loop.body());
        yield isNothing(asked) ? asked : loop.withBody(asked);
      }
      case Stmt.For loop when loop.attrs().has(Attrs.ITEMS) && isKnown(loop.extent()) ->
          first(loop);
      case Stmt.Store store when store.buffer().scope() == Scope.LOCAL -> asked(store.value());
      // What has been read goes on to where other threads see it.
      case Stmt.Store store when isRegister(store.value()) -> Stmt.Seq.EMPTY;
      case Stmt.Evaluate(Expr.Call call) when call.op() == Intrinsics.SYNC_WARP -> Stmt.Seq.EMPTY;
      default -> {
        stopped = true;
        yield Stmt.Seq.EMPTY;
      }
    };
  }

  /** What the first item reads. */
  private Stmt first(Stmt.For loop) {
    Expr any = Exprs.lt(Exprs.i32(0), loop.extent());
    Stmt once = Folding.stmt(Substitution.ofVars(Map.of(loop.var(), loop.min())).stmt(loop.body()));
    Stmt asked = guarded(any, asked(once));
    stopped = true;
    return asked;
  }

  private static boolean isRegister(Expr e) {
    return e instanceof Expr.Load(Buffer from, List<Expr> _) && from.scope() == Scope.LOCAL;
  }

  /** The lines that a value is read from. */
  private Stmt asked(Expr value) {
    return switch (value) {
      case Expr.Select(Expr condition, Expr then, Expr otherwise)
          when condition.type().isScalar() && isKnown(condition) && isKnown(otherwise) ->
          guarded(condition, asked(then));
      case Expr.Select(Expr.Broadcast(Expr condition, int _), Expr then, Expr otherwise)
          when isKnown(condition) && isKnown(otherwise) ->
          guarded(condition, asked(then));
      case Expr.Bitcast(var _, Expr bits) -> asked(bits);
      case Expr.Load(Buffer buffer, List<Expr> indices)
          when written.test(buffer)
              && value.type().lanes() * buffer.dtype().bytes() >= LEAST_BYTES ->
          address(buffer, indices);
      default -> Stmt.Seq.EMPTY;
    };
  }

  private static Stmt address(Buffer buffer, List<Expr> indices) {
    List<Expr> first = new ArrayList<>();
    for (Expr index : indices) {
      Expr begin = index instanceof Expr.Ramp(Expr base, long _, int _) ? base : index;
      if (!isKnown(begin) || !begin.type().isScalar()) {
        return Stmt.Seq.EMPTY;
      }
      first.add(begin);
    }
    return Exprs.evaluate(CacheHints.PREFETCH_L2, new Expr.AddressOf(buffer, first));
  }

  private static Stmt guarded(Expr condition, Stmt asked) {
    return isNothing(asked) ? asked : new Stmt.If(condition, asked, null);
  }

  private static boolean isNothing(Stmt s) {
    return s.equals(Stmt.Seq.EMPTY);
  }

  /** Whether a value depends on nothing but variables: none of what it reads is there yet. */
  private static boolean isKnown(Expr e) {
    boolean[] known = {true};
    Walk.expressions(
        e,
        inner ->
            known[0] &=
                !(inner instanceof Expr.Load
                    || inner instanceof Expr.AddressOf
                    || inner instanceof Expr.Call));
    return known[0];
  }
}
