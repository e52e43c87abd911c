package dev.warpwright.lower.flow;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.grid.TicketLoops;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The how manyeth stage of a pipe it is that each site of a role fills or reads, as an expression
 * of the loops around it. A stage's place in the ring and its phase follow: they are constants
 * where the code is straight and each item goes round the ring so many times that it ends with the
 * phase that it began with, else bits of the number where the stages are a power of two; otherwise,
 * or where there is no such expression, variables go round ({@link
 * dev.warpwright.lower.gpu.RingCursor}).
 */
final class StageNumbers {
  private final Pipe pipe;
  private final boolean produces;

  /** Whether whole turns of all phases are nothing where the code is straight. */
  private final boolean turns;

  private final Map<Stmt, Expr> before = new IdentityHashMap<>();

  /** Behind how many stages a loop ends. */
  private final Map<Stmt, Expr> behind = new IdentityHashMap<>();

  /** Of loops that count on over all items, what they begin with. */
  private final Map<Stmt, Expr> counted;

  private boolean known = true;
  private boolean constant = true;

  private StageNumbers(Pipe pipe, boolean produces, Map<Stmt, Expr> counted, boolean turns) {
    this.counted = counted;
    this.pipe = pipe;
    this.produces = produces;
    this.turns = turns;
  }

  /**
   * Of a role's body.
   *
   * @param counted of loops, how many stages there were before them
   */
  static StageNumbers of(Stmt role, Pipe pipe, boolean produces, Map<Stmt, Expr> counted) {
    return of(role, new StageNumbers(pipe, produces, counted, true));
  }

  /** Of all stages that a role reads: whole turns count, too, and 0 is the very first one alone. */
  static StageNumbers ofAll(Stmt role, Pipe pipe, Map<Stmt, Expr> counted) {
    return of(role, new StageNumbers(pipe, false, counted, false));
  }

  private static StageNumbers of(Stmt role, StageNumbers numbers) {
    numbers.assign(role, Exprs.i32(0), new HashSet<>());
    return numbers;
  }

  /** Whether every site has a number. */
  boolean known() {
    return known;
  }

  /** Whether each number is a constant once loops are unrolled. */
  boolean constant() {
    return known && constant;
  }

  /** The number of the stage that a site fills or reads. */
  Expr at(Stmt site) {
    return before.getOrDefault(site, Exprs.i32(0));
  }

  /** The number of stages behind a loop. */
  Expr behind(Stmt loop) {
    return behind.getOrDefault(loop, Exprs.i32(0));
  }

  private boolean isSite(Stmt s) {
    return produces
        ? s instanceof Stmt.Flow.Produce p && p.pipe() == pipe
        : s instanceof Stmt.Flow.Consume c && c.pipe() == pipe && !c.peek();
  }

  /** How many stages a statement fills or reads; null if that differs. */
  private @Nullable Expr count(Stmt s) {
    if (isSite(s)) {
      return Exprs.i32(1);
    }
    return switch (s) {
      case Stmt.For f -> {
        Expr each = count(f.body());
        if (each == null || Exprs.isConst(each, 0)) {
          yield each;
        }
        if (TicketLoops.isDrawn(f)) {
          yield null;
        }
        Set<Var> inside = bound(f.body());
        inside.add(f.var());
        yield mentions(each, inside) ? null : rounds(f, each, f.extent());
      }
      case Stmt.While w -> {
        Expr each = count(w.body());
        yield each != null && Exprs.isConst(each, 0) ? each : null;
      }
      case Stmt.If(Expr _, Stmt then, Stmt otherwise) -> {
        Expr first = count(then);
        Expr second = otherwise == null ? Exprs.i32(0) : count(otherwise);
        yield first != null && first.equals(second) ? first : null;
      }
      case Stmt.Let l -> {
        Expr each = count(l.body());
        yield each != null && mentions(each, Set.of(l.var())) ? null : each;
      }
      default -> {
        Expr sum = Exprs.i32(0);
        for (Stmt child : Stmts.children(s)) {
          Expr each = count(child);
          sum = each == null || sum == null ? null : Exprs.add(sum, each);
        }
        yield sum;
      }
    };
  }

  /** So many times round. */
  private Expr rounds(Stmt.For f, Expr each, Expr times) {
    return turns
            && each instanceof Expr.IntImm n
            && n.value() % (2L * pipe.stages()) == 0
            && isStraight(f.body())
        ? Exprs.i32(0)
        : Exprs.mul(times, each);
  }

  /** Whether no site is in a loop that stays one. */
  private boolean isStraight(Stmt s) {
    boolean loop = s instanceof Stmt.For f && f.kind() != ForKind.UNROLLED;
    return loop
        ? Exprs.isConst(Objects.requireNonNullElse(count(s), Exprs.i32(1)), 0)
        : Stmts.children(s).stream().allMatch(this::isStraight);
  }

  private void assign(Stmt s, @Nullable Expr number, Set<Var> unrolled) {
    if (isSite(s)) {
      if (number == null) {
        known = false;
      } else {
        before.put(s, number);
        constant &= isOf(number, unrolled);
      }
      return;
    }
    switch (s) {
      case Stmt.For f -> {
        Expr each = count(f.body());
        Set<Var> inside = bound(f.body());
        inside.add(f.var());
        Expr step =
            each != null && !TicketLoops.isDrawn(f) && !mentions(each, inside) ? each : null;
        Expr before = counted.getOrDefault(f, number);
        Expr first =
            before == null || step == null
                ? null
                : Exprs.add(before, rounds(f, step, Exprs.sub(f.var(), f.min())));
        Set<Var> more = new HashSet<>(unrolled);
        if (f.kind() == ForKind.UNROLLED) {
          more.add(f.var());
        }
        assign(f.body(), first, more);
        if (before != null && step != null) {
          behind.put(f, Exprs.add(before, rounds(f, step, f.extent())));
        }
      }
      case Stmt.If(Expr _, Stmt then, Stmt otherwise) -> {
        assign(then, number, unrolled);
        if (otherwise != null) {
          assign(otherwise, number, unrolled);
        }
      }
      case Stmt.While w -> assign(w.body(), null, unrolled);
      default -> {
        Expr at = number;
        for (Stmt child : Stmts.children(s)) {
          assign(child, at, unrolled);
          Expr count = count(child);
          at = at == null || count == null ? null : Exprs.add(at, count);
        }
      }
    }
  }

  private static boolean isOf(Expr e, Set<Var> vars) {
    boolean[] all = {true};
    Walk.expressions(e, x -> all[0] &= !(x instanceof Var v) || vars.contains(v));
    return all[0];
  }

  private static Set<Var> bound(Stmt s) {
    Set<Var> vars = new HashSet<>();
    Walk.statements(
        s,
        each -> {
          if (each instanceof Stmt.For f) {
            vars.add(f.var());
          } else if (each instanceof Stmt.Let l) {
            vars.add(l.var());
          }
        });
    return vars;
  }

  static boolean mentions(Expr e, Set<Var> vars) {
    boolean[] found = {false};
    Walk.expressions(e, x -> found[0] |= x instanceof Var v && vars.contains(v));
    return found[0];
  }

  /** All stages that a statement fills or reads, if that is a constant; else -1. */
  long total(Stmt s) {
    if (isSite(s)) {
      return 1;
    }
    long sum = 0;
    for (Stmt child : Stmts.children(s)) {
      long each = total(child);
      if (each < 0) {
        return each;
      }
      sum += each;
    }
    if (sum == 0) {
      return 0;
    }
    return switch (s) {
      case Stmt.While _ -> -1;
      case Stmt.For f when TicketLoops.isDrawn(f) -> -1;
      case Stmt.For f -> f.extent() instanceof Expr.IntImm n ? sum * Math.max(0, n.value()) : -1;
      case Stmt.If _ -> -1;
      default -> sum;
    };
  }

  /** The statements inside of a loop, without sequences. */
  static List<Stmt> flat(Stmt s) {
    return Stmts.seq(s) instanceof Stmt.Seq(List<Stmt> stmts) ? stmts : List.of(s);
  }
}
