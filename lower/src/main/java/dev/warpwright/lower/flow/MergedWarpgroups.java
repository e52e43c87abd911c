package dev.warpwright.lower.flow;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.RingBarriers;
import dev.warpwright.lower.gpu.StagedStore;
import dev.warpwright.lower.gpu.WarpRoles;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.grid.MergedProgram;
import dev.warpwright.lower.grid.WorkTickets;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.lower.tile.AssignRoles;
import dev.warpwright.lower.tile.PlanPipes;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Merged grids of products of warpgroups: roles whose producer draws the tickets and hands each
 * tile's entry to the consumers with its first stage.
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
  /** Of loops that count on: no variables go round, for a role counts in two loops. */
  static final int BY_NUMBER = 2;

  /** An entry that is no tile: there are not as many rows. */
  private static final int END = -1;

  private final WorkTickets tickets;
  private final Grid first;
  private final Grid second;
  private final WarpRoles roles;
  private final RingBarriers barriers;
  private final int consumers;
  private final Map<Buffer, OperandRing> rings = new HashMap<>();
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
   * What is done for a tile of one of the grids.
   *
   * @param row the variable of its rows of tiles, in its statements
   * @param column the variable of its columns of tiles
   * @param before the variable that counts the block's steps before the tile
   * @param steps of a tile
   * @param rings of operands
   * @param barriers full ones, then empty ones
   * @param load what the producer does
   * @param math what the consumers do
   */
  private record Grid(
      PrimFunc func,
      Var row,
      Var column,
      Var before,
      Expr steps,
      List<Buffer> rings,
      List<Buffer> barriers,
      Stmt load,
      Role math) {

    static Grid of(PrimFunc func) {
      if (func.attrs().has("clusterM")) {
        throw new LoweringException("merged products of warpgroups are in no clusters");
      }
      List<Stmt.For> tiles = new ArrayList<>();
      Stmt inner = func.body();
      while (Stmts.seq(inner) instanceof Stmt.For f && f.kind() == ForKind.THREAD_BOUND) {
        tiles.add(f);
        inner = f.body();
      }
      Var before = Var.index("before");
      List<Expr> steps = new ArrayList<>();
      Attrs attrs = func.attrs().with("producers", 1).without("order");
      PrimFunc tile = func.withBody(counting(inner, before, steps)).withAttrs(attrs);
      PrimFunc lowered =
          LowerPipes.apply(ChooseMovement.apply(AssignRoles.apply(PlanPipes.apply(tile))));
      List<Buffer> rings = new ArrayList<>();
      List<Buffer> barriers = new ArrayList<>();
      Stmt body = lowered.body();
      while (body instanceof Stmt.Alloc(Buffer buffer, Stmt in)) {
        (buffer.dtype() == DType.MBARRIER ? barriers : rings).add(buffer);
        body = in;
      }
      List<Role> roles = new ArrayList<>();
      for (Stmt s : StageNumbers.flat(body)) {
        if (s instanceof Stmt.Flow.Roles(List<Role> some)) {
          roles.addAll(some);
        }
      }
      if (tiles.size() != 2 || steps.size() != 1 || barriers.size() != 2 || roles.size() != 2) {
        throw new LoweringException(
            func.name()
                + " is no grid of tiles with one pipelined loop each, which bulk copies feed");
      }
      return new Grid(
          lowered,
          tiles.get(0).var(),
          tiles.get(1).var(),
          before,
          steps.getFirst(),
          rings,
          barriers,
          LowerTiles.oneThread(roles.get(0)),
          roles.get(1));
    }

    /** The pipelined loop goes on counting where the tile before ended. */
    private static Stmt counting(Stmt s, Var before, List<Expr> steps) {
      return new Rewriter() {
        @Override
        public Stmt stmt(Stmt inner) {
          if (!(inner instanceof Stmt.For f) || f.kind() != ForKind.PIPELINED) {
            return super.stmt(inner);
          }
          steps.add(f.extent());
          Var k = Var.index("k");
          Attrs attrs =
              f.attrs().with(DistributeWork.NUMBERED, BY_NUMBER).with(DistributeWork.LEAST, 1);
          Stmt body = Substitution.ofVars(Map.of(f.var(), Exprs.sub(k, before))).stmt(f.body());
          return new Stmt.For(k, before, f.extent(), f.kind(), null, attrs, body);
        }
      }.stmt(s);
    }

    int registers(int threads) {
      return RoleCode.registers(math.body(), threads);
    }

    /** The same with rings and barriers of another one. */
    Grid with(Map<Buffer, Buffer> places) {
      Substitution other = Substitution.ofBuffers(places);
      return new Grid(
          func,
          row,
          column,
          before,
          steps,
          rings,
          barriers,
          other.stmt(load),
          math.withBody(other.stmt(math.body())));
    }
  }

  private MergedWarpgroups(PrimFunc func) {
    this.consumers = WarpRoles.consumers(func.attrs());
    MergedProgram program = MergedProgram.of(func);
    this.tickets = WorkTickets.of(program, consumers);
    Grid one = Grid.of(program.first());
    Grid other = Grid.of(program.second());
    requireSameStages(one, other);
    long stages = one.rings().getFirst().extent(0);
    this.barriers = RingBarriers.of(stages, consumers, 1);
    this.first = one.with(ofBarriers(one));
    Map<Buffer, Buffer> places = ofBarriers(other);
    for (int i = 0; i < one.rings().size(); i++) {
      places.put(other.rings().get(i), one.rings().get(i));
    }
    this.second = other.with(places);
    one.rings().forEach(ring -> rings.put(ring, SwizzledTile.operands(ring)));
    int threads = consumers * WarpgroupInstruction.THREADS;
    this.roles =
        WarpRoles.of(
            func.attrs(), Math.max(one.registers(threads), other.registers(threads)), false);
    this.entries = Buffer.of("entries", DType.I32, Scope.SHARED, stages);
  }

  private Map<Buffer, Buffer> ofBarriers(Grid grid) {
    Map<Buffer, Buffer> places = new HashMap<>();
    places.put(grid.barriers().get(0), barriers.full());
    places.put(grid.barriers().get(1), barriers.empty());
    return places;
  }

  private static void requireSameStages(Grid one, Grid other) {
    boolean same = one.rings().size() == other.rings().size();
    for (int i = 0; same && i < one.rings().size(); i++) {
      same = alike(one.rings().get(i), other.rings().get(i));
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
  static Kernel lower(PrimFunc func, GpuTarget target, PassListener listener) {
    Kernel kernel = new MergedWarpgroups(func).kernel(func, target);
    listener.tell("MergedWarpgroups", kernel);
    return listener.tell("Simplify", Simplify.kernel(kernel));
  }

  private Kernel kernel(PrimFunc func, GpuTarget target) {
    Var tid = Var.index("tid");
    first.rings().forEach(ring -> shared.add(Objects.requireNonNull(rings.get(ring)).ring()));
    Stmt branch = roles.branch(tid, producer(), Stmt.Seq.EMPTY, this::consumer);
    shared.add(entries);
    shared.add(barriers.full());
    shared.add(barriers.empty());
    Stmt body =
        Stmts.seq(
            new Stmt.If(Exprs.eq(tid, Exprs.i32(0)), barriers.init(), null),
            Exprs.evaluate(Intrinsics.SYNC_THREADS),
            LowerTiles.inRings(branch, rings));
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
            .with("arch", target.name())
            .with("fast", 1)
            .with("minBlocks", roles.minBlocks()));
  }

  /** A tile of one grid or the other, after how many steps of this block. */
  private Stmt either(Stmt ofFirst, Stmt ofSecond) {
    Var before = Var.index("before");
    return new Stmt.Let(
        before,
        at(done),
        new Stmt.If(
            tickets.isFirst(at(entry)),
            Stmts.seq(atTile(first, before, ofFirst), advance(first, before)),
            Stmts.seq(atTile(second, before, ofSecond), advance(second, before))));
  }

  private Stmt advance(Grid grid, Var before) {
    return set(done, Exprs.add(before, grid.steps()));
  }

  /** A grid's code for the tile at hand; what it shares with the first one lies there. */
  private Stmt atTile(Grid grid, Var before, Stmt code) {
    return new Substitution(
            Map.of(
                grid.row(), tickets.row(), grid.column(), tickets.column(), grid.before(), before),
            places)
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
                    announce(at(entry), Stmt.Seq.EMPTY), either(first.load(), produceSecond()))),
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
  private Stmt produceSecond() {
    return tickets.waits()
        ? Stmts.seq(
            tickets.await(),
            Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC_GLOBAL),
            second.load())
        : second.load();
  }

  /** Writes an entry for the consumers, into the next stage. */
  private Stmt announce(Expr value, Stmt then) {
    Expr stage = barriers.stage(at(done));
    return Stmts.seq(
        barriers.waitEmpty(barriers.parity(at(done)), stage),
        new Stmt.Store(entries, List.of(stage), value),
        then);
  }

  private Stmt consumer(Var thread) {
    Var group = Var.index("group");
    Var inGroup = Var.index("thread");
    Stmt tile =
        tickets.atTile(
            at(entry),
            either(
                consume(first, thread, group, inGroup, true),
                consume(second, thread, group, inGroup, false)));
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

  private Stmt consume(Grid grid, Var thread, Var group, Var inGroup, boolean publishes) {
    RoleCode.Team team = new RoleCode.Team(1, consumers, group, thread, inGroup);
    RoleCode code =
        new RoleCode(grid.math().body(), team, rings, new ClusterBlocks(grid.func()), grid.func());
    Stmt item = code.ofItem(grid.math().body());
    List<Buffer> fragments = new ArrayList<>();
    while (item instanceof Stmt.Alloc(Buffer buffer, Stmt inner)) {
      fragments.add(buffer);
      item = inner;
    }
    if (code.shared().isEmpty()) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "results of merged products of warpgroups leave by bulk copies; those of %s cannot",
              grid.func().name()));
    }
    share(code.shared().getFirst());
    Stmt publish =
        new Stmt.If(
            Exprs.eq(inGroup, Exprs.i32(0)),
            Stmts.seq(
                Exprs.evaluate(HopperIntrinsics.BULK_WAIT, Exprs.i32(0)),
                Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC_GLOBAL),
                tickets.publish()),
            null);
    shareRegisters(fragments);
    return Stmts.seq(item, publishes && tickets.waits() ? publish : Stmt.Seq.EMPTY);
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
