package dev.warpwright.verify.mutation;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;

/** Mistakes with counters between work items and roles of tile programs, and with parts of sums. */
final class SignalMutations {
  private SignalMutations() {}

  static final List<FlowMutation> ALL =
      List.of(
          FlowMutation.undefined("signal before the write", swapped(Stmt.Flow.Signal.class, -1)),
          FlowMutation.undefined(
              "signal left out",
              s -> s instanceof Stmt.Flow.Signal ? List.of(Stmt.Seq.EMPTY) : List.of()),
          FlowMutation.undefined(
              "signal twice",
              s -> s instanceof Stmt.Flow.Signal ? List.of(Stmts.seq(s, s)) : List.of()),
          FlowMutation.undefined(
              "signal of another counter",
              s ->
                  s instanceof Stmt.Flow.Signal c
                      ? List.of(
                          new Stmt.Flow.Signal(
                              c.counter(), next(c.counter().extent(0), c.indices()), c.by()))
                      : List.of()),
          FlowMutation.undefined("await behind the read", swapped(Stmt.Flow.Await.class, 1)),
          FlowMutation.undefined(
              "await left out",
              s -> s instanceof Stmt.Flow.Await ? List.of(Stmt.Seq.EMPTY) : List.of()),
          FlowMutation.undefined("await one too few", await(-1)),
          FlowMutation.undefined("await one too many", await(1)),
          FlowMutation.undefined(
              "await of another counter",
              s ->
                  s instanceof Stmt.Flow.Await a
                      ? List.of(
                          new Stmt.Flow.Await(
                              a.counter(), next(a.counter().extent(0), a.indices()), a.atLeast()))
                      : List.of()),
          FlowMutation.wrong("one part fewer is added up", parts(-1)),
          FlowMutation.wrong("one part more is awaited", parts(1)));

  /** Such a statement changes places with the one before it or behind it. */
  private static Function<Stmt, List<Stmt>> swapped(Class<? extends Stmt> which, int step) {
    return s -> {
      List<Stmt> variants = new ArrayList<>();
      if (s instanceof Stmt.Seq(List<Stmt> stmts)) {
        for (int i = 0; i < stmts.size(); i++) {
          if (which.isInstance(stmts.get(i)) && i + step >= 0 && i + step < stmts.size()) {
            List<Stmt> changed = new ArrayList<>(stmts);
            Collections.swap(changed, i, i + step);
            variants.add(new Stmt.Seq(changed));
          }
        }
      }
      return variants;
    };
  }

  /** The counter behind one, round the end. */
  private static List<Expr> next(long extent, List<Expr> indices) {
    List<Expr> moved = new ArrayList<>(indices);
    moved.set(0, Exprs.mod(Exprs.add(indices.getFirst(), 1), extent));
    return moved;
  }

  private static Function<Stmt, List<Stmt>> await(long more) {
    return s ->
        s instanceof Stmt.Flow.Await a
            ? List.of(new Stmt.Flow.Await(a.counter(), a.indices(), Exprs.add(a.atLeast(), more)))
            : List.of();
  }

  private static Function<Stmt, List<Stmt>> parts(long more) {
    return s ->
        s instanceof Stmt.Flow.Combine c
            ? List.of(
                new Stmt.Flow.Combine(
                    c.sums(), c.slot(), c.part(), Exprs.add(c.parts(), more), c.attrs(), c.body()))
            : List.of();
  }
}
