package dev.warpwright.lower.gpu;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.lower.grid.MergedProgram;
import dev.warpwright.lower.grid.WorkTickets;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Merged grids of products of warpgroups: roles whose producer
 * draws the tickets and hands each tile's entry to the consumers with its first stage.
 *
 * <pre>{@code
 * producer:  while ticket < tiles { stage empty; entries[stage] = order[ticket]
 *              of the second grid: wait until the row is complete, fence the proxies
 *              fill the stages of the tile }
 *            one more stage, whose entry is the end
 * consumer:  while (entry = entries[stage]) is not the end { multiply; store
 *              of the first grid: wait until the store is complete; add one to the row's counter }
 * }</pre>
 *
 * <p>Stages flow from one tile to the next, of whichever grid, so both need operands of the same
 * tiles. The producer waits behind no consumer but its own, which wait for nobody else: why there
 * is no deadlock stands at {@link WorkTickets}.
 */
final class MergedWarpgroups {
  /** An entry that is no tile: there are not as many rows. */
  private static final int END = -1;

  private final WorkTickets tickets;
  private final Grid first;
  private final Grid second;
  private final WarpRoles roles;
  private final RingBarriers barriers;
  private final Buffer entries;
  private final Buffer done = Buffer.of("done", DType.I32, Scope.LOCAL, 1);
  private final Buffer entry = Buffer.of("entry", DType.I32, Scope.LOCAL, 1);
  private final List<Buffer> shared = new ArrayList<>();

  /** What of the second grid lies where something of the first does. */
  private final Map<Buffer, Buffer> places = new HashMap<>();

  private @Nullable Buffer staging;

  /** Of a consumer thread: fragments of both grids, which are never alive together. */
  private final List<Buffer> registers = new ArrayList<>();

  /**
   * One of the grids.
   *
   * @param row the variable of its rows of tiles, in its statements
   * @param column the variable of its columns of tiles
   */
  private record Grid(
      PipelinedProgram program,
      WorkItems work,
      List<BulkLoad> loads,
      Map<Buffer, FragmentLayout> layouts,
      long stages,
      Var row,
      Var column) {

    static Grid of(PrimFunc func, int consumers) {
      PipelinedProgram program = PipelinedProgram.of(func);
      WorkItems work = WorkItems.of(func, program);
      long stages = program.loop().attrs().getLong("stages", 2);
      if (stages < 2 || func.attrs().has("clusterM")) {
        throw new LoweringException(
            "merged products of warpgroups take 2 stages at least, and no clusters or copies by"
                + " threads");
      }
      return new Grid(
          program,
          work,
          program.loads().stream().map(load -> BulkLoad.of(load, stages, work)).toList(),
          FragmentInference.infer(func.body(), consumers * WarpgroupInstruction.THREADS),
          stages,
          program.work().get(0).var(),
          program.work().get(1).var());
    }

    int accumulators() {
      return program.fragments().stream()
          .filter(f -> program.products().stream().anyMatch(m -> m.c().buffer() == f))
          .mapToInt(
              f -> {
                FragmentLayout layout = layouts.get(f);
                return layout == null ? 0 : WarpRoles.registers(f, layout);
              })
          .sum();
    }

    WorkItems.Item item(Expr before) {
      return new WorkItems.Item(
          before, program.steps(), Exprs.i32(0), null, null, new Rewriter(), null);
    }
  }

  private MergedWarpgroups(PrimFunc func) {
    int consumers = WarpRoles.consumers(func.attrs());
    MergedProgram program = MergedProgram.of(func);
    this.tickets = WorkTickets.of(program, consumers);
    this.first = Grid.of(program.first(), consumers);
    this.second = Grid.of(program.second(), consumers);
    this.roles =
        WarpRoles.of(func.attrs(), Math.max(first.accumulators(), second.accumulators()), false);
    this.barriers = RingBarriers.of(first.stages(), consumers, 1, roles.producers());
    this.entries = Buffer.of("entries", DType.I32, Scope.SHARED, first.stages());
    requireSameStages();
  }

  private void requireSameStages() {
    boolean same =
        first.stages() == second.stages() && first.loads().size() == second.loads().size();
    for (int i = 0; same && i < first.loads().size(); i++) {
      Buffer a = first.loads().get(i).ring().ring();
      Buffer b = second.loads().get(i).ring().ring();
      same = alike(a, b);
      places.put(b, a);
    }
    if (!same) {
      throw new LoweringException(
          "merged products of warpgroups need the same stages of the same tiles of operands");
    }
  }

  private static boolean alike(Buffer a, Buffer b) {
    return a.dtype() == b.dtype()
        && a.shape().equals(b.shape())
        && Objects.equals(a.layout(), b.layout());
  }

  /**
   * Lowers.
   *
   * @throws LoweringException if the program asks for what this lowering cannot do
   */
  static Kernel lower(PrimFunc func, PassListener listener) {
    Kernel kernel = new MergedWarpgroups(func).kernel(func);
    listener.tell("MergedWarpgroups", kernel);
    return listener.tell("Simplify", Simplify.kernel(kernel));
  }

  private Kernel kernel(PrimFunc func) {
    Var tid = Var.index("tid");
    first.loads().forEach(load -> shared.add(load.ring().ring()));
    Stmt branch = roles.branch(tid, producer(), Stmt.Seq.EMPTY, this::consumer);
    shared.add(entries);
    shared.add(barriers.full());
    shared.add(barriers.empty());
    Stmt body =
        Stmts.seq(
            new Stmt.If(Exprs.eq(tid, Exprs.i32(0)), barriers.init(), null),
            Exprs.evaluate(Intrinsics.SYNC_THREADS),
            branch);
    return new Kernel(
        func.name(),
        Kernel.Kind.GRID,
        tickets.params(func),
        List.of(
            tickets.blocks(),
            new ThreadBinding(ThreadAxis.THREAD_X, tid, Exprs.i32(roles.threads()))),
        Stmts.alloc(shared, body),
        tickets
            .attrs(func.attrs())
            .with("arch", "sm_90a")
            .with("fast", 1)
            .with("minBlocks", roles.minBlocks()));
  }

  /** A tile of one grid or the other, after how many steps of this block. */
  private Stmt either(
      Function<WorkItems.Item, Stmt> ofFirst, Function<WorkItems.Item, Stmt> ofSecond) {
    Var before = Var.index("before");
    return new Stmt.Let(
        before,
        at(done),
        new Stmt.If(
            tickets.isFirst(at(entry)),
            Stmts.seq(atTile(first, ofFirst.apply(first.item(before))), advance(first, before)),
            Stmts.seq(
                atTile(second, ofSecond.apply(second.item(before))), advance(second, before))));
  }

  private Stmt advance(Grid grid, Var before) {
    return set(done, Exprs.add(before, grid.program().steps()));
  }

  /** A grid's code for the tile at hand; shared memory is that of the first grid. */
  private Stmt atTile(Grid grid, Stmt code) {
    return new Substitution(
            Map.of(grid.row(), tickets.row(), grid.column(), tickets.column()), places)
        .stmt(code);
  }

  private Stmt producer() {
    Buffer ticket = Buffer.of("ticket", DType.I32, Scope.LOCAL, 1);
    Buffer next = Buffer.of("next", DType.I32, Scope.LOCAL, 1);
    Stmt tile =
        Stmts.seq(
            set(entry, tickets.entry(at(ticket))),
            set(next, tickets.draw()),
            tickets.atTile(
                at(entry),
                Stmts.seq(
                    announce(at(entry), Stmt.Seq.EMPTY),
                    either(item -> loop(first).produce(item), this::produceSecond))),
            set(ticket, at(next)));
    return Stmts.alloc(
        List.of(ticket, next, done, entry),
        Stmts.seq(
            set(done, Exprs.i32(0)),
            set(ticket, tickets.draw()),
            new Stmt.While(tickets.isWork(at(ticket)), tile),
            announce(Exprs.i32(END), barriers.filled(barriers.stage(at(done)))),
            tickets.leave()));
  }

  /** Bulk copies read what other blocks have stored. */
  private Stmt produceSecond(WorkItems.Item item) {
    Stmt loads = loop(second).produce(item);
    return tickets.waits()
        ? Stmts.seq(
            tickets.await(), Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC_GLOBAL), loads)
        : loads;
  }

  /** Writes an entry for the consumers, into the next stage. */
  private Stmt announce(Expr value, Stmt then) {
    Expr stage = barriers.stage(at(done));
    return Stmts.seq(
        barriers.waitEmpty(barriers.parity(at(done)), stage),
        new Stmt.Store(entries, List.of(stage), value),
        then);
  }

  private WarpgroupMainLoop loop(Grid grid) {
    return loop(grid, new ThreadCode(Var.index("none"), 0, grid.layouts()));
  }

  private WarpgroupMainLoop loop(Grid grid, ThreadCode code) {
    return new WarpgroupMainLoop(
        grid.program(),
        grid.work(),
        RingCursor.numbered(barriers),
        grid.loads(),
        List.of(),
        code,
        roles.consumers());
  }

  private Stmt consumer(Var thread) {
    Var group = Var.index("group");
    Var inGroup = Var.index("thread");
    Stmt tile =
        tickets.atTile(
            at(entry),
            either(
                item -> consume(first, item, thread, group, inGroup, true),
                item -> consume(second, item, thread, group, inGroup, false)));
    Stmt read =
        Stmts.seq(
            barriers.waitFull(barriers.parity(at(done)), barriers.stage(at(done))),
            set(entry, new Expr.Load(entries, List.of(barriers.stage(at(done))))));
    Stmt all =
        Stmts.seq(
            set(done, Exprs.i32(0)),
            read,
            new Stmt.While(
                new Expr.Binary(BinaryOp.NE, at(entry), Exprs.i32(END)), Stmts.seq(tile, read)),
            StagedStore.finish(inGroup));
    registers.add(done);
    registers.add(entry);
    return new Stmt.Let(
        group,
        roles.group(thread),
        new Stmt.Let(inGroup, roles.inGroup(thread), Stmts.alloc(registers, all)));
  }

  private Stmt consume(
      Grid grid, WorkItems.Item item, Var thread, Var group, Var inGroup, boolean publishes) {
    ThreadCode code =
        new ThreadCode(thread, roles.consumers() * WarpgroupInstruction.THREADS, grid.layouts());
    TileEpilogue epilogue = new TileEpilogue(grid.program(), code, roles.consumers(), true);
    if (epilogue.sharedBuffers().isEmpty()) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "results of merged products of warpgroups leave by bulk copies; those of %s cannot",
              grid.program().result().to().buffer().name()));
    }
    share(epilogue.sharedBuffers().getFirst());
    Stmt publish =
        new Stmt.If(
            Exprs.eq(inGroup, Exprs.i32(0)),
            Stmts.seq(
                Exprs.evaluate(HopperIntrinsics.BULK_WAIT, Exprs.i32(0)),
                Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC_GLOBAL),
                tickets.publish()),
            null);
    shareRegisters(grid.program().fragments().stream().map(code::registers).toList());
    return Stmts.seq(
        loop(grid, code).consume(item, group, inGroup),
        epilogue.code(item, thread, group, inGroup),
        publishes && tickets.waits() ? publish : Stmt.Seq.EMPTY);
  }

  /** Gives a grid's fragments registers, those of the other grid's where they suit. */
  private void shareRegisters(List<Buffer> fragments) {
    List<Buffer> free = new ArrayList<>(registers);
    for (Buffer fragment : fragments) {
      Buffer known = free.stream().filter(other -> alike(other, fragment)).findFirst().orElse(null);
      if (known == null) {
        registers.add(fragment);
      } else {
        free.remove(known);
        places.put(fragment, known);
      }
    }
  }

  /** Gives a grid's results a place to leave from, that of the first grid's if it suits. */
  private void share(Buffer panels) {
    Buffer known = staging;
    if (known == null) {
      staging = panels;
      shared.add(panels);
    } else if (alike(known, panels)) {
      places.put(panels, known);
    } else {
      throw new LoweringException(
          "merged products of warpgroups need results of the same tiles and type");
    }
  }

  private static Stmt set(Buffer one, Expr value) {
    return new Stmt.Store(one, List.of(Exprs.i32(0)), value);
  }

  private static Expr at(Buffer one) {
    return new Expr.Load(one, List.of(Exprs.i32(0)));
  }
}
