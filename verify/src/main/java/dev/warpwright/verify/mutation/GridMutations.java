package dev.warpwright.verify.mutation;

import static dev.warpwright.sim.api.Finding.Kind.BARRIER;
import static dev.warpwright.sim.api.Finding.Kind.DEADLOCK;
import static dev.warpwright.sim.api.Finding.Kind.INTRINSIC;
import static dev.warpwright.sim.api.Finding.Kind.OUT_OF_BOUNDS;
import static dev.warpwright.sim.api.Finding.Kind.PROXY;
import static dev.warpwright.sim.api.Finding.Kind.RACE;
import static dev.warpwright.sim.api.Finding.Kind.RESOURCES;
import static dev.warpwright.sim.api.Finding.Kind.UNINITIALISED;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.CounterIntrinsics;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Mistakes between the blocks of a grid. */
final class GridMutations {
  private static final Buffer TOO_LARGE =
      Buffer.of("too_large", DType.F32, Scope.SHARED, GpuTarget.SM_90A.sharedPerBlock() / 4 + 1);

  private GridMutations() {}

  static final List<Mutation> ALL =
      List.of(
          new Mutation(
              "work taken in the reverse order",
              EnumSet.of(DEADLOCK),
              false,
              kernel -> s -> reversed(kernel, s)),
          Mutation.undefined(
              "counter published without release",
              GridMutations::plainPublication,
              RACE,
              PROXY,
              DEADLOCK),
          Mutation.wrong(
              "counter never published",
              s ->
                  s instanceof Stmt.Evaluate(Expr.Call call)
                          && call.op() == CounterIntrinsics.RED_RELEASE
                      ? List.of(Stmt.Seq.EMPTY)
                      : List.of(),
              DEADLOCK),
          Mutation.undefined(
              "counter read without acquire",
              s -> Planting.inExpressions(s, GridMutations::plainLoad),
              RACE,
              DEADLOCK,
              PROXY),
          Mutation.undefined(
              "counter not waited for", GridMutations::noWait, RACE, UNINITIALISED, PROXY),
          Mutation.undefined(
              "counter published before the write",
              GridMutations::earlyPublication,
              RACE,
              UNINITIALISED,
              PROXY),
          // A counter may tell who begins anew, and not who may read.
          Mutation.wrong(
              "another counter published",
              GridMutations::otherCounter,
              DEADLOCK,
              OUT_OF_BOUNDS,
              RACE,
              PROXY,
              UNINITIALISED),
          Mutation.undefined(
              "counter waited for one too few", s -> waitsFor(s, -1), RACE, UNINITIALISED, PROXY),
          Mutation.undefined("counter waited for one too many", s -> waitsFor(s, 1), DEADLOCK),
          // Threads of either role meet the other one's barriers, in numbers that do not fit.
          new Mutation(
              "work of the other role",
              EnumSet.of(DEADLOCK, RACE, BARRIER, INTRINSIC, UNINITIALISED, OUT_OF_BOUNDS, PROXY),
              false,
              kernel -> s -> exchanged(kernel, s)),
          new Mutation(
              "two blocks with one tile",
              EnumSet.of(RACE, OUT_OF_BOUNDS, UNINITIALISED, DEADLOCK),
              true,
              kernel -> s -> doubled(kernel, s)),
          new Mutation(
              "more shared memory than a block has",
              EnumSet.of(RESOURCES),
              false,
              kernel ->
                  s -> s == kernel.body() ? List.of(new Stmt.Alloc(TOO_LARGE, s)) : List.of()));

  /** A drawn ticket, kept or handed on, counts from the end of what is drawn in a loop. */
  private static List<Stmt> reversed(Kernel kernel, Stmt s) {
    if (!(s instanceof Stmt.Store store) || !draws(store.value())) {
      return List.of();
    }
    Expr[] end = {null};
    Walk.statements(
        kernel.body(),
        w -> {
          if (w instanceof Stmt.While(Expr condition, Stmt body)
              && condition instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
              && op == BinaryOp.LT
              && a instanceof Expr.Load load
              && (load.buffer() == store.buffer()
                  || end[0] == null && load.buffer().scope() == Scope.LOCAL)) {
            end[0] = b;
          }
        });
    @Nullable Expr all = end[0];
    if (all == null) {
      return List.of();
    }
    Var ticket = new Var("ticket", store.value().type());
    return List.of(
        new Stmt.Let(
            ticket,
            store.value(),
            new Stmt.Store(
                store.buffer(),
                store.indices(),
                Exprs.select(
                    Exprs.lt(ticket, all),
                    Exprs.sub(Exprs.sub(all, ticket), Exprs.i32(1)),
                    ticket))));
  }

  private static boolean draws(Expr e) {
    boolean[] found = {false};
    Walk.expressions(
        e,
        part ->
            found[0] |=
                part instanceof Expr.Call call
                    && call.op() == CounterIntrinsics.ATOMIC_ADD
                    && call.args().getFirst() instanceof Expr.AddressOf address
                    && address.indices().stream().allMatch(Expr.IntImm.class::isInstance));
    return found[0];
  }

  private static boolean acquires(Expr e) {
    boolean[] found = {false};
    Walk.expressions(
        e,
        part ->
            found[0] |= part instanceof Expr.Call c && c.op() == CounterIntrinsics.LOAD_ACQUIRE);
    return found[0];
  }

  private static List<Stmt> plainPublication(Stmt s) {
    if (s instanceof Stmt.Evaluate(Expr.Call call)
        && call.op() == CounterIntrinsics.RED_RELEASE
        && call.args().getFirst() instanceof Expr.AddressOf(Buffer buffer, List<Expr> indices)) {
      return List.of(
          new Stmt.Store(
              buffer,
              indices,
              new Expr.Binary(BinaryOp.ADD, new Expr.Load(buffer, indices), call.args().get(1))));
    }
    return List.of();
  }

  private static boolean isPublication(Stmt s) {
    return s instanceof Stmt.If branch && branch.otherwise() == null
        ? isPublication(branch.then())
        : s instanceof Stmt.Evaluate(Expr.Call call) && call.op() == CounterIntrinsics.RED_RELEASE;
  }

  /** Ahead of whatever it tells of, as far as that stands in one sequence with it. */
  private static List<Stmt> earlyPublication(Stmt s) {
    if (!(s instanceof Stmt.Seq(List<Stmt> stmts))) {
      return List.of();
    }
    List<Stmt> variants = new ArrayList<>();
    for (int i = 1; i < stmts.size(); i++) {
      if (isPublication(stmts.get(i))) {
        List<Stmt> moved = new ArrayList<>(stmts);
        moved.addFirst(moved.remove(i));
        variants.add(new Stmt.Seq(moved));
      }
    }
    return variants;
  }

  private static List<Stmt> otherCounter(Stmt s) {
    if (!(s instanceof Stmt.Evaluate(Expr.Call call))
        || call.op() != CounterIntrinsics.RED_RELEASE
        || !(call.args().getFirst() instanceof Expr.AddressOf(Buffer buffer, List<Expr> indices))) {
      return List.of();
    }
    List<Expr> next = new ArrayList<>(indices);
    next.set(0, Exprs.add(indices.getFirst(), 1));
    return List.of(Planting.withArgument(call, 0, new Expr.AddressOf(buffer, next)));
  }

  /** A loop that only waits for a counter to come to something, and to another thing. */
  private static List<Stmt> waitsFor(Stmt s, long more) {
    return s instanceof Stmt.While(Expr.Binary(BinaryOp op, Expr counter, Expr least), Stmt body)
            && op == BinaryOp.LT
            && acquires(counter)
            && body instanceof Stmt.Seq seq
            && seq.stmts().isEmpty()
        ? List.of(
            new Stmt.While(
                new Expr.Binary(
                    op,
                    counter,
                    new Expr.Binary(
                        more < 0 ? BinaryOp.SUB : BinaryOp.ADD,
                        least,
                        new Expr.IntImm(least.type(), Math.abs(more)))),
                body))
        : List.of();
  }

  /** Both ways of a branch by the thread's number wait for barrier objects, and change places. */
  private static List<Stmt> exchanged(Kernel kernel, Stmt s) {
    Var thread = Planting.thread(kernel);
    return s instanceof Stmt.If(Expr condition, Stmt then, Stmt otherwise)
            && otherwise != null
            && condition instanceof Expr.Binary(BinaryOp op, Expr a, Expr.IntImm b)
            && op == BinaryOp.LT
            && a == thread
            && waits(then)
            && waits(otherwise)
        ? List.of(new Stmt.If(condition, otherwise, then))
        : List.of();
  }

  private static boolean waits(Stmt s) {
    boolean[] found = {false};
    Walk.statements(s, inner -> found[0] |= Planting.isCall(inner, "mbarrier.wait"));
    return found[0];
  }

  private static @Nullable Expr plainLoad(Expr e) {
    return e instanceof Expr.Call call
            && call.op() == CounterIntrinsics.LOAD_ACQUIRE
            && call.args().getFirst() instanceof Expr.AddressOf(Buffer buffer, List<Expr> indices)
        ? new Expr.Load(buffer, indices)
        : null;
  }

  /** A loop that only waits for a counter. */
  private static List<Stmt> noWait(Stmt s) {
    return s instanceof Stmt.While(Expr condition, Stmt body)
            && body instanceof Stmt.Seq seq
            && seq.stmts().isEmpty()
        ? List.of(Stmt.Seq.EMPTY)
        : List.of();
  }

  /** Stores of odd blocks go where their even neighbour's go. */
  private static List<Stmt> doubled(Kernel kernel, Stmt s) {
    Set<Var> blocks =
        Set.copyOf(
            kernel.bindings().stream().filter(b -> b.axis().isBlock()).map(b -> b.var()).toList());
    if (!(s instanceof Stmt.Store store) || store.buffer().scope() != Scope.GLOBAL) {
      return s instanceof Stmt.Let let && !blocks.isEmpty() ? lets(let, blocks) : List.of();
    }
    List<Stmt> variants = new ArrayList<>();
    for (Stmt variant : Planting.inExpressions(s, e -> even(e, blocks))) {
      if (variant instanceof Stmt.Store changed && changed.value() == store.value()) {
        variants.add(variant);
      }
    }
    return variants;
  }

  private static List<Stmt> lets(Stmt.Let let, Set<Var> blocks) {
    return Planting.inExpressions(let, e -> even(e, blocks));
  }

  private static @Nullable Expr even(Expr e, Set<Var> blocks) {
    return e instanceof Var v && blocks.contains(v) ? Exprs.mul(Exprs.div(v, 2), 2) : null;
  }
}
