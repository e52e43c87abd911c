package dev.warpwright.families.launch;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.CacheHints;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What a ring of cp.async is filled with before its first wait, asked for from L2 instead: a line
 * of memory once.
 *
 * <pre>{@code
 * let begin = part * 2                       let begin = part * 2
 * for p in stages - 1 {                      for p in stages - 1 {
 *   cp.async.16(&ring[p, …], &K[…, c], 16)     if c % 64 == 0 { prefetch.l2(&K[…, c]) }
 *   cp.async.commit()                    →   }
 * }
 * for step in steps { cp.async.wait(2) … }
 * }</pre>
 */
final class FirstCopies {
  private static final int LINE = 128;

  private static final Set<Object> COPIES =
      Set.of(Intrinsics.CP_ASYNC_16, Intrinsics.CP_ASYNC_8, Intrinsics.CP_ASYNC_4);

  private FirstCopies() {}

  /** The statement; empty if there is no such ring, or where it begins stands in memory. */
  static Stmt toL2(Stmt body) {
    Stmt asked = FreshNames.of(first(body));
    boolean[] reads = {false};
    Walk.expressions(asked, e -> reads[0] |= e instanceof Expr.Load);
    return reads[0] ? Stmt.Seq.EMPTY : asked;
  }

  /** With the values bound around it; statements that copy nothing are left out. */
  private static Stmt first(Stmt s) {
    return switch (s) {
      case Stmt.Let let -> {
        Stmt inner = first(let.body());
        yield inner.equals(Stmt.Seq.EMPTY) ? inner : new Stmt.Let(let.var(), let.value(), inner);
      }
      case Stmt.Alloc alloc -> first(alloc.body());
      case Stmt.Seq(List<Stmt> stmts) -> {
        List<Stmt> found = new ArrayList<>();
        for (Stmt each : stmts) {
          found.add(first(each));
          if (waits(each)) {
            break;
          }
        }
        yield Stmts.seq(found);
      }
      default -> copies(s) && !waits(s) ? asked(s) : Stmt.Seq.EMPTY;
    };
  }

  private static boolean copies(Stmt s) {
    boolean[] found = {false};
    Walk.statements(s, inner -> found[0] |= isCopy(inner));
    return found[0];
  }

  private static boolean isCopy(Stmt s) {
    return s instanceof Stmt.Evaluate(Expr.Call call) && COPIES.contains(call.op());
  }

  private static boolean waits(Stmt s) {
    boolean[] found = {false};
    Walk.statements(
        s,
        inner ->
            found[0] |=
                inner instanceof Stmt.Evaluate(Expr.Call call)
                    && call.op() == Intrinsics.CP_ASYNC_WAIT);
    return found[0];
  }

  private static Stmt asked(Stmt s) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt inner) {
        if (isCopy(inner)
            && inner instanceof Stmt.Evaluate(Expr.Call call)
            && call.args().get(1) instanceof Expr.AddressOf source) {
          Expr column = source.indices().getLast();
          Expr line = Exprs.i32(LINE / source.buffer().dtype().bytes());
          return new Stmt.If(
              Exprs.eq(Exprs.mod(column, line), Exprs.i32(0)),
              Exprs.evaluate(CacheHints.PREFETCH_L2, source),
              null);
        }
        return inner instanceof Stmt.Evaluate ? Stmt.Seq.EMPTY : super.stmt(inner);
      }
    }.stmt(s);
  }
}
