package dev.warpwright.lower.grid;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * Lowers a program whose blocks share the work of two grids: each grid by itself becomes a kernel,
 * and the bodies of both the two branches of one.
 *
 * <pre>{@code
 * draw a ticket
 * while ticket < tiles of both {
 *   entry = order[ticket]                 the table: which tile of which grid
 *   draw the next ticket; of the second grid: wait until the counter of the row is full; barrier
 *   first grid ? S(tile) : R(tile)
 *   barrier; of the first grid: add one to the counter of the row
 * }
 * the last block to leave sets all counters to zero
 * }</pre>
 *
 * <p>{@link WorkTickets} says what is drawn, and why nothing waits for ever. A ticket is drawn
 * while the tile before it is computed, for the answer takes as long as a short step. What both
 * grids have in shared memory shares its place.
 */
public final class MergedGrids {
  private final WorkTickets tickets;
  private final List<ThreadBinding> threads;
  private final Buffer turn = Buffer.of("turn", DType.I32, Scope.SHARED, 1);
  private final Buffer item = Buffer.of("item", DType.I32, Scope.LOCAL, 1);
  private final Buffer next = Buffer.of("next", DType.I32, Scope.LOCAL, 1);

  private MergedGrids(WorkTickets tickets, List<ThreadBinding> threads) {
    this.tickets = tickets;
    this.threads = threads;
  }

  /** Whether a program's blocks share the work of two grids. */
  public static boolean isMerged(PrimFunc program) {
    return MergedProgram.isMerged(program);
  }

  /**
   * Lowers.
   *
   * @param grid lowers one of the grids, given as loops bound to block indices around its tiles
   * @throws LoweringException if the program is of another form, {@code grid} refuses a part, or
   *     the two need different blocks of threads
   */
  public static Kernel lower(
      PrimFunc func, PassListener listener, BiFunction<PrimFunc, PassListener, Kernel> grid) {
    MergedProgram program = MergedProgram.of(func);
    Kernel first = grid.apply(program.first(), listener);
    Kernel second = grid.apply(program.second(), listener);
    List<ThreadBinding> threads = threads(first);
    List<ThreadBinding> others = threads(second);
    boolean same = threads.size() == others.size();
    for (int i = 0; same && i < threads.size(); i++) {
      same =
          threads.get(i).axis() == others.get(i).axis()
              && threads.get(i).extent().equals(others.get(i).extent());
    }
    if (!same) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "the grids of %s have different blocks of threads: %s and %s",
              func.name(),
              threads,
              others));
    }
    Kernel kernel =
        new MergedGrids(WorkTickets.of(program, 1), threads).kernel(func, first, second);
    listener.tell("MergedGrids", kernel);
    return listener.tell("Simplify", Simplify.kernel(kernel));
  }

  private static List<ThreadBinding> threads(Kernel kernel) {
    return kernel.bindings().stream().filter(b -> !b.axis().isBlock()).toList();
  }

  private Kernel kernel(PrimFunc func, Kernel first, Kernel second) {
    List<ThreadBinding> bindings = new ArrayList<>();
    bindings.add(tickets.blocks());
    bindings.addAll(threads);
    return new Kernel(
        func.name(),
        Kernel.Kind.GRID,
        tickets.params(func),
        bindings,
        Stmts.alloc(List.of(turn, item, next), body(tile(first), tile(second))),
        tickets.attrs(first.attrs()));
  }

  /** A grid's body for the tile at hand and the threads of this kernel. */
  private Stmt tile(Kernel grid) {
    Map<Var, Expr> vars = new HashMap<>();
    for (ThreadBinding binding : grid.bindings()) {
      switch (binding.axis()) {
        case BLOCK_X -> vars.put(binding.var(), tickets.column());
        case BLOCK_Y -> vars.put(binding.var(), tickets.row());
        case BLOCK_Z -> throw new LoweringException("a grid of three dimensions is not merged");
        case THREAD_X, THREAD_Y, THREAD_Z ->
            vars.put(
                binding.var(),
                threads.stream()
                    .filter(b -> b.axis() == binding.axis())
                    .map(ThreadBinding::var)
                    .findFirst()
                    .orElseThrow());
      }
    }
    return Substitution.ofVars(vars).stmt(grid.body());
  }

  private Stmt body(Stmt first, Stmt second) {
    Var entry = Var.index("entry");
    Expr isFirst = tickets.isFirst(entry);
    boolean waits = tickets.waits();
    Stmt begin =
        Stmts.seq(
            set(next, tickets.draw()),
            waits ? new Stmt.If(tickets.isSecond(entry), tickets.await(), null) : Stmt.Seq.EMPTY);
    Stmt publish = oneThread(new Stmt.If(isFirst, tickets.publish(), null));
    Stmt work =
        Stmts.seq(
            oneThread(begin),
            barrier(),
            new Stmt.If(isFirst, first, second),
            oneThread(set(turn, at(next))),
            barrier(),
            set(item, at(turn)),
            waits ? publish : Stmt.Seq.EMPTY);
    return Stmts.seq(
        oneThread(set(turn, tickets.draw())),
        barrier(),
        set(item, at(turn)),
        new Stmt.While(
            tickets.isWork(at(item)),
            new Stmt.Let(entry, tickets.entry(at(item)), tickets.atTile(entry, work))),
        oneThread(tickets.leave()));
  }

  private Stmt oneThread(Stmt s) {
    Expr condition = Exprs.bool(true);
    for (ThreadBinding thread : threads) {
      condition = Exprs.and(condition, Exprs.eq(thread.var(), Exprs.i32(0)));
    }
    return new Stmt.If(condition, s, null);
  }

  private static Stmt barrier() {
    return Exprs.evaluate(Intrinsics.SYNC_THREADS);
  }

  private static Stmt set(Buffer one, Expr value) {
    return new Stmt.Store(one, List.of(Exprs.i32(0)), value);
  }

  private static Expr at(Buffer one) {
    return new Expr.Load(one, List.of(Exprs.i32(0)));
  }
}
