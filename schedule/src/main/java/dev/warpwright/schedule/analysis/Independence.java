package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether iterations of loops touch the same memory. Two iterations are independent when, in every
 * buffer that the body writes and that outlives an iteration, the indices tell the iterations
 * apart: in some dimensions all accesses have the form {@code Σ cᵢ·vᵢ + rest}, with the digits
 * {@code vᵢ} weighted so that no two combinations overlap.
 */
public final class Independence {
  private Independence() {}

  /** Whether a statement is known to be or have no loop whose iterations must be independent. */
  public static boolean isSequential(Stmt s) {
    return !Contents.ofNest(s).mayBeParallel();
  }

  /**
   * The statements directly inside one, but for some that are known to be {@link #isSequential}.
   */
  public static List<Stmt> mayBeParallel(Stmt s) {
    LongSequence sequence = s instanceof Stmt.Seq seq ? LongSequence.of(seq) : null;
    return sequence == null ? Tree.children(s) : sequence.mayBeParallel();
  }

  /**
   * A buffer through which iterations may depend on each other, or null if there is none.
   *
   * @param carried the loops whose iterations are compared
   * @param body the body of the innermost of them
   */
  public static @Nullable Buffer conflict(List<Stmt.For> carried, Stmt body, Ranges outer) {
    return conflict(carried, body, outer, Set.of());
  }

  /** The same, but for the buffers with the given names. */
  public static @Nullable Buffer conflict(
      List<Stmt.For> carried, Stmt body, Ranges outer, Set<String> except) {
    Set<Var> vars = new LinkedHashSet<>();
    Ranges ranges = outer;
    for (Stmt.For loop : carried) {
      Span span = Ranges.of(loop);
      ranges = ranges.with(loop.var(), span);
      if (span == null || span.size() > 1) {
        vars.add(loop.var());
      }
    }
    Set<Buffer> inside = new HashSet<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Alloc alloc) {
            inside.add(alloc.buffer());
          }
        });
    Map<Buffer, List<Access>> byBuffer = new LinkedHashMap<>();
    for (Access access : Accesses.of(body)) {
      if (!inside.contains(access.buffer())) {
        byBuffer.computeIfAbsent(access.buffer(), b -> new ArrayList<>()).add(access);
      }
    }
    for (Map.Entry<Buffer, List<Access>> entry : byBuffer.entrySet()) {
      boolean written = entry.getValue().stream().anyMatch(Access::isWrite);
      if (written
          && !except.contains(entry.getKey().name())
          && !determined(entry.getValue(), vars, ranges).containsAll(vars)) {
        return entry.getKey();
      }
    }
    return null;
  }

  /**
   * Whether different iterations of a loop write different elements of a buffer, which is allocated
   * around it, and read none that another one writes.
   */
  public static boolean apart(Stmt.For loop, Buffer buffer, Ranges outer) {
    Span span = Ranges.of(loop);
    Set<Var> vars = span == null || span.size() > 1 ? Set.of(loop.var()) : Set.of();
    List<Access> accesses = Accesses.of(loop.body(), buffer);
    return determined(accesses, vars, outer.with(loop.var(), span)).containsAll(vars);
  }

  /** The atoms over the variables whose values follow from an element that is accessed. */
  private static Set<Expr> determined(List<Access> accesses, Set<Var> carried, Ranges outer) {
    Set<Expr> known = new HashSet<>();
    Ranges ranges = outer;
    for (Access access : accesses) {
      ranges = ranges.with(access.inner());
    }
    Set<Var> vars = entangled(accesses, carried, ranges);
    for (int d = 0; d < accesses.getFirst().buffer().rank(); d++) {
      fromDimension(accesses, d, vars, ranges, known);
    }
    boolean grew = true;
    while (grew) {
      grew = false;
      for (Expr atom : List.copyOf(known)) {
        if (atom instanceof Expr.Binary(BinaryOp op, Expr a, Expr by)
            && op == BinaryOp.DIV
            && known.contains(new Expr.Binary(BinaryOp.MOD, a, by))) {
          grew |= digits(Forms.of(a, ranges), List.of(), 1, ranges, known);
        }
      }
    }
    return known;
  }

  /**
   * The variables and those of inner loops that occur together with them in a quotient or a
   * remainder: of such a loop (fused and split again) all digits have to be told at once.
   */
  private static Set<Var> entangled(List<Access> accesses, Set<Var> carried, Ranges ranges) {
    Set<Var> all = new LinkedHashSet<>(carried);
    for (Access access : accesses) {
      for (int d = 0; d < access.buffer().rank(); d++) {
        for (Expr atom : access.min(d, ranges).terms().keySet()) {
          if (Affine.mentions(atom, carried)) {
            Walk.expressions(
                atom,
                e -> {
                  if (e instanceof Var v && access.innerVars().contains(v)) {
                    all.add(v);
                  }
                });
          }
        }
      }
    }
    return all;
  }

  private static void fromDimension(
      List<Access> accesses, int d, Set<Var> vars, Ranges ranges, Set<Expr> known) {
    LinearForm carried = null;
    LinearForm fixed = null;
    Span window = null;
    List<Long> offsets = new ArrayList<>();
    List<List<Digit>> apart = new ArrayList<>();
    for (Access access : accesses) {
      LinearForm min = access.min(d, ranges);
      Set<Var> inner = access.innerVars();
      inner.removeAll(vars);
      LinearForm moving = min.part(atom -> Affine.mentions(atom, inner));
      LinearForm here = min.minus(moving).part(atom -> Affine.mentions(atom, vars));
      LinearForm rest = min.minus(moving).minus(here).plus(-min.constant());
      Span span = ranges.of(moving.plus(min.constant()));
      if (span == null
          || moving.mentions(vars)
          || !(access.extent(d) instanceof Expr.IntImm extent)
          || carried != null && !carried.equals(here)
          || fixed != null && !fixed.equals(rest)) {
        return;
      }
      span = new Span(span.lo(), span.hi() + extent.value() - 1);
      carried = here;
      fixed = rest;
      window = window == null ? span : window.hull(span);
      offsets.add(extent.value() == 1 ? min.constant() : Long.MIN_VALUE);
      apart.add(Digit.of(moving, ranges));
    }
    if (carried == null || window == null) {
      return;
    }
    digits(carried, List.of(), window.size(), ranges, known);
    boolean alike =
        offsets.stream().distinct().count() == 1
            && offsets.getFirst() != Long.MIN_VALUE
            && apart.stream().distinct().count() == 1;
    if (alike) {
      // What moves in inner loops leaves gaps, in which digits of the carried ones may lie.
      digits(carried, apart.getFirst(), 1, ranges, known);
    }
  }

  /** What one inner loop adds to an index: {@code weight} times 0 up to {@code count - 1}. */
  private record Digit(long weight, long count) {
    /** The digits of a form, in order; none of it if it may be negative. */
    static List<Digit> of(LinearForm moving, Ranges ranges) {
      List<Digit> digits = new ArrayList<>();
      moving
          .terms()
          .forEach(
              (atom, weight) -> {
                Span span = ranges.ofAtom(atom);
                // Of a span that starts elsewhere, an impossible digit: it overlaps everything.
                digits.add(
                    span != null && span.lo() == 0 && weight > 0
                        ? new Digit(weight, span.size())
                        : new Digit(1, Integer.MAX_VALUE));
              });
      digits.removeIf(digit -> digit.count() == 1);
      digits.sort(Comparator.comparingLong(Digit::weight).thenComparingLong(Digit::count));
      return digits;
    }
  }

  /**
   * Adds the atoms of a form that can be read off its value when {@code width} consecutive values
   * mean the same: largest weight first, each weight above everything that the smaller ones sum to.
   *
   * @param others digits of which the value is made, too
   */
  private static boolean digits(
      LinearForm form, List<Digit> others, long width, Ranges ranges, Set<Expr> known) {
    List<Map.Entry<Expr, Long>> digits =
        form.terms().entrySet().stream()
            .sorted((x, y) -> Long.compare(Math.abs(x.getValue()), Math.abs(y.getValue())))
            .toList();
    Deque<Digit> smaller = new ArrayDeque<>(others);
    Set<Expr> found = new HashSet<>();
    long reach = width;
    for (Map.Entry<Expr, Long> digit : digits) {
      long weight = Math.abs(digit.getValue());
      while (!smaller.isEmpty() && smaller.getFirst().weight() <= weight) {
        reach = reachWith(smaller.removeFirst(), reach, found);
      }
      if (weight >= reach) {
        found.add(digit.getKey());
      } else {
        // It overlaps the smaller ones: of a sum of them, neither can be told.
        found.clear();
      }
      Span span = ranges.ofAtom(digit.getKey());
      if (span == null) {
        boolean last = digit == digits.getLast();
        if (!last || !smaller.isEmpty()) {
          return false;
        }
        break;
      }
      reach = Math.addExact(reach, Math.multiplyExact(weight, span.size() - 1));
    }
    while (!smaller.isEmpty()) {
      reach = reachWith(smaller.removeFirst(), reach, found);
    }
    return known.addAll(found);
  }

  private static long reachWith(Digit digit, long reach, Set<Expr> found) {
    if (digit.weight() < reach) {
      found.clear();
    }
    return Math.addExact(reach, Math.multiplyExact(digit.weight(), digit.count() - 1));
  }
}
