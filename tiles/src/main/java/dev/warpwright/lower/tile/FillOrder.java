package dev.warpwright.lower.tile;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link AssignRoles} that orders what a producer fills first: one stage of a ring,
 * then what stays.
 *
 * <pre>{@code
 * produce kept { … }                      persistent i in n {
 * persistent i in n {                       for k in 4 {
 *   for k in 4 { produce ring { … } }   →     produce ring { … }
 * }                                           if i == 0 && k == 0 { produce kept { … } }
 *                                           }
 *                                         }
 * }</pre>
 *
 * <p>Behind all that stays, the ring's first stage would come last, and whoever reads it in the
 * first item would wait for everything.
 */
final class FillOrder {
  private FillOrder() {}

  /** Orders the fills of a producer's body. */
  static Stmt apply(Stmt load) {
    return switch (load) {
      case Stmt.If(Expr condition, Stmt then, @Nullable Stmt otherwise) when otherwise == null ->
          new Stmt.If(condition, apply(then), null);
      case Stmt.Seq(List<Stmt> stmts) -> {
        List<Stmt> kept = new ArrayList<>();
        List<Stmt> result = new ArrayList<>();
        for (Stmt s : stmts) {
          if (s instanceof Stmt.Flow.Produce && result.isEmpty()) {
            kept.add(s);
          } else if (s instanceof Stmt.For f
              && f.kind() == ForKind.PERSISTENT
              && result.isEmpty()
              && behindFirst(f, Stmts.seq(kept), Exprs.bool(true)) instanceof Stmt ordered) {
            result.add(ordered);
            kept.clear();
          } else {
            result.addAll(kept);
            kept.clear();
            result.add(stmts.size() == 1 ? apply(s) : s);
          }
        }
        result.addAll(kept);
        yield Stmts.seq(result);
      }
      default -> load;
    };
  }

  /** The loop with the fills behind its first produce; null if that is not in its first steps. */
  private static @Nullable Stmt behindFirst(Stmt s, Stmt kept, Expr first) {
    return switch (s) {
      case Stmt.Flow.Produce _ -> Stmts.seq(s, new Stmt.If(first, kept, null));
      case Stmt.For f -> {
        // Items that are there begin with the first; other loops must have a first step.
        boolean runs =
            f.kind() == ForKind.PERSISTENT
                || (f.extent() instanceof Expr.IntImm n && n.value() > 0);
        Expr here = Exprs.and(first, Exprs.eq(f.var(), f.min()));
        Stmt body = runs ? behindFirst(f.body(), kept, here) : null;
        yield body == null ? null : f.withBody(body);
      }
      case Stmt.Let l -> {
        Stmt body = behindFirst(l.body(), kept, first);
        yield body == null ? null : new Stmt.Let(l.var(), l.value(), body);
      }
      case Stmt.Seq(List<Stmt> stmts) when !stmts.isEmpty() -> {
        Stmt head = behindFirst(stmts.getFirst(), kept, first);
        List<Stmt> all = new ArrayList<>(stmts);
        if (head != null) {
          all.set(0, head);
        }
        yield head == null ? null : Stmts.seq(all);
      }
      default -> null;
    };
  }
}
