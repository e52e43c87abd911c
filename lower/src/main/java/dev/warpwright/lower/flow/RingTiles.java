package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.copy.StageCopy;
import dev.warpwright.lower.gpu.FragmentInference;
import dev.warpwright.lower.gpu.MapLowering;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.OperandsAhead;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.grid.TicketLoops;
import dev.warpwright.lower.grid.WorkTickets;
import dev.warpwright.lower.item.PartialSums;
import dev.warpwright.lower.item.ResultTile;
import dev.warpwright.lower.item.WorkItems;
import dev.warpwright.lower.pass.GridLoops;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@code LowerTiles} for blocks all of whose threads fill rings of operands and
 * multiply them by {@code mma.sync} ({@link BlockPipes}).
 *
 * <pre>{@code
 * tile.copy As[s] <- A[…] [by = "cp.async"]         cp.async.16(&As[s, …], &A[…], 16) …
 * tile.copy Bs[s] <- B[…] [by = "registers"]        Bs_next[…] = B[…] …; before the next barrier Bs[s, …] = Bs_next[…] …
 * for step in n { …; sync_threads(); …; tile.mma } → operands read ahead of the barrier (OperandsAhead)
 * tile.map Cs[i, j] = f(acc[i, j])                  C[…] = f(acc[0]) …
 * tile.copy C[…] <- Cs
 * }</pre>
 *
 * <p>Rings take what shared memory there is, so results leave from registers.
 */
final class RingTiles {
  private final PrimFunc func;
  private final Var tid = Var.index("tid");
  private final ThreadCode code;
  private final MapLowering maps;
  private final Map<Buffer, OperandRing> rings = new LinkedHashMap<>();
  private final List<ThreadBinding> bindings = new ArrayList<>();
  private final List<Buffer> fragments = new ArrayList<>();

  private final List<Buffer> operands = new ArrayList<>();

  /** From where to which ring. */
  private record Way(Buffer from, Buffer ring) {}

  private final Map<Way, StageCopy> copies = new LinkedHashMap<>();

  private @Nullable PartialSums parts;

  private RingTiles(PrimFunc func) {
    this.func = func;
    int threads = Math.toIntExact(func.attrs().getLong("threads", 128));
    this.code = new ThreadCode(tid, threads, FragmentInference.infer(func.body(), threads));
    this.maps = new MapLowering(code);
  }

  /** Whether a program without roles has rings, and nothing beside them. */
  static boolean are(PrimFunc func) {
    boolean[] found = {false};
    Walk.statements(func.body(), s -> found[0] |= isCall(s, Intrinsics.SYNC_THREADS));
    return found[0] && hasOperandsOnly(func);
  }

  /** Whether all products take both operands from pipes, or from the rings that were pipes. */
  static boolean hasOperandsOnly(PrimFunc func) {
    Set<Buffer> piped = new HashSet<>();
    boolean[] only = {true};
    Walk.statements(
        func.body(),
        s -> {
          switch (s) {
            case Stmt.Flow.PipeScope(var pipe, Stmt _) -> piped.addAll(pipe.buffers());
            case Stmt.Alloc(Buffer buffer, Stmt _)
                when buffer.scope() == Scope.SHARED && buffer.rank() == 3 ->
                piped.add(buffer);
            case Stmt.TileMma mma ->
                only[0] &= piped.contains(mma.a().buffer()) && piped.contains(mma.b().buffer());
            default -> {}
          }
        });
    return only[0];
  }

  /**
   * The kernel of a program.
   *
   * @throws LoweringException if it does anything but such products and maps of their results
   */
  static Kernel kernel(PrimFunc func) {
    return new RingTiles(func).kernel();
  }

  private Kernel kernel() {
    Stmt body = drawn(block(func.body()));
    List<Buffer> shared = new ArrayList<>();
    rings.values().forEach(ring -> shared.add(ring.ring()));
    List<Param> params = new ArrayList<>(func.params());
    List<Buffer> registers = new ArrayList<>();
    PartialSums combined = parts;
    if (combined != null) {
      shared.add(combined.turn());
      params.addAll(combined.params());
      registers.addAll(combined.registers());
    }
    registers.addAll(fragments);
    registers.addAll(operands);
    copies.values().forEach(copy -> addIfAny(copy.registers(), registers));
    bindings.add(new ThreadBinding(ThreadAxis.THREAD_X, tid, Exprs.i32(code.threads())));
    return new Kernel(
        func.name(),
        Kernel.Kind.GRID,
        params,
        bindings,
        Stmts.alloc(shared, Stmts.alloc(registers, body)),
        func.attrs().with("fast", 1));
  }

  private Stmt drawn(Stmt body) {
    Expr blocks =
        bindings.stream().map(ThreadBinding::extent).reduce(Exprs::mul).orElse(Exprs.i32(1));
    UnaryOperator<Stmt> one = s -> new Stmt.If(Exprs.eq(tid, Exprs.i32(0)), s, null);
    return TicketLoops.ofBlock(func, blocks, one).drawn(body);
  }

  /** Down to what a block does. */
  private Stmt block(Stmt s) {
    return switch (s) {
      case Stmt.For f when GridLoops.is(f) -> {
        bindings.add(GridLoops.binding(f));
        yield block(f.body());
      }
      case Stmt.Alloc(Buffer buffer, Stmt body) -> {
        allocated(buffer);
        yield block(body);
      }
      case Stmt.Seq(List<Stmt> stmts) when stmts.size() == 1 -> block(stmts.getFirst());
      default -> stmt(s);
    };
  }

  /** All that a block needs it has once, for all of its items; results' tiles need no place. */
  private void allocated(Buffer buffer) {
    if (buffer.scope() == Scope.FRAGMENT) {
      fragments.add(code.registers(buffer));
    } else if (buffer.rank() == 3) {
      rings.put(buffer, SwizzledTile.operands(buffer));
    }
  }

  private Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Alloc(Buffer buffer, Stmt body) -> {
        allocated(buffer);
        yield stmt(body);
      }
      case Stmt.Seq(List<Stmt> stmts) -> sequence(stmts);
      case Stmt.For f when TicketLoops.isDrawn(f) -> f.withBody(stmt(f.body()));
      case Stmt.For f -> f.ofThreads(stmt(f.body()));
      case Stmt.If i ->
          new Stmt.If(
              i.condition(), stmt(i.then()), i.otherwise() == null ? null : stmt(i.otherwise()));
      case Stmt.Let l -> new Stmt.Let(l.var(), l.value(), stmt(l.body()));
      case Stmt.TileFill fill -> fill(fill);
      case Stmt.TileMap map when !isShared(map) -> maps.map(map);
      case Stmt.TileCopy copy when isToRing(copy) -> sequence(List.of(copy));
      case Stmt.TileCopy copy when copy.to().buffer().scope() != Scope.SHARED -> maps.copy(copy);
      case Stmt.Evaluate _, Stmt.Comment _, Stmt.Flow.Await _, Stmt.Flow.Signal _ -> s;
      default ->
          throw new LoweringException(
              s.getClass().getSimpleName()
                  + " stands beside rings of operands: neither a loop of GEMMs of two of them"
                  + " nor a map of fragments");
    };
  }

  private static void addIfAny(@Nullable Buffer one, List<Buffer> into) {
    if (one != null) {
      into.add(one);
    }
  }

  private static boolean isShared(Stmt.TileMap map) {
    Leaves leaves = Leaves.of(map);
    return Stream.of(leaves.reads(), leaves.writes())
        .anyMatch(all -> all.stream().anyMatch(b -> b.scope() == Scope.SHARED));
  }

  private Stmt sequence(List<Stmt> stmts) {
    List<Stmt> result = new ArrayList<>();
    for (int i = 0; i < stmts.size(); i++) {
      Stmt s = stmts.get(i);
      Stmt next = i + 1 < stmts.size() ? stmts.get(i + 1) : Stmt.Seq.EMPTY;
      if (isToRing(s)) {
        List<Stmt.TileCopy> together = new ArrayList<>();
        while (i < stmts.size() && stmts.get(i) instanceof Stmt.TileCopy copy && isToRing(copy)) {
          together.add(copy);
          i++;
        }
        i--;
        result.add(Stmts.seq(begin(together), end(together)));
      } else if (s instanceof Stmt.For f && isAhead(f)) {
        List<Stmt> behind = new ArrayList<>();
        if (isCall(next, Intrinsics.CP_ASYNC_WAIT)) {
          behind.add(next);
          i++;
        }
        Stmt before = Stmts.seq(result);
        result = new ArrayList<>();
        result.add(ahead(f, before, Stmts.seq(behind)));
      } else if (s instanceof Stmt.Flow.Combine combine) {
        Stmt product = Stmts.seq(result);
        result = new ArrayList<>();
        result.add(combined(combine, product));
      } else if (s instanceof Stmt.TileMap || s instanceof Stmt.TileCopy) {
        ResultTile tile = RoleCode.tile(s, next);
        result.add(tile == null ? stmt(s) : tile.direct(maps, true));
        i += tile == null ? 0 : 1;
      } else {
        result.add(stmt(s));
      }
    }
    return Stmts.seq(result);
  }

  private boolean isToRing(Stmt s) {
    return s instanceof Stmt.TileCopy copy && rings.containsKey(copy.to().buffer());
  }

  /** Whether barriers of all threads stand between the steps of a loop. */
  private static boolean isAhead(Stmt.For f) {
    return StageNumbers.flat(f.body()).stream().anyMatch(s -> isCall(s, Intrinsics.SYNC_THREADS))
        && StageNumbers.flat(f.body()).stream().anyMatch(Stmt.TileMma.class::isInstance);
  }

  private static boolean isCall(Stmt s, TargetIntrinsic op) {
    return s instanceof Stmt.Evaluate(Expr.Call call) && call.op() == op;
  }

  /**
   * A loop of steps: arrive, fill a stage, multiply.
   *
   * @param before what stands in front of it, and belongs to the same tile
   */
  private Stmt ahead(Stmt.For f, Stmt before, Stmt behind) {
    List<Stmt> arrived = new ArrayList<>();
    List<Stmt> begin = new ArrayList<>();
    Stmt end = Stmt.Seq.EMPTY;
    Stmt.TileMma product = null;
    for (Stmt s : StageNumbers.flat(f.body())) {
      if (s instanceof Stmt.TileMma mma && product == null) {
        product = mma;
      } else if (s instanceof Stmt.If(Expr more, Stmt then, Stmt otherwise)
          && otherwise == null
          && then instanceof Stmt.Let(Var filled, Expr stage, Stmt copies)) {
        List<Stmt> flat = StageNumbers.flat(copies);
        List<Stmt> waits = flat.stream().takeWhile(BlockPipes::isWait).map(this::stmt).toList();
        List<Stmt.TileCopy> fill = toRings(flat.subList(waits.size(), flat.size()));
        Stmt filling = Stmts.seq(Stmts.seq(waits), begin(fill));
        begin.add(new Stmt.If(more, new Stmt.Let(filled, stage, filling), null));
        Stmt ends = Substitution.ofVars(Map.of(filled, stage)).stmt(end(fill));
        end = ends.equals(Stmt.Seq.EMPTY) ? ends : new Stmt.If(more, ends, null);
      } else if (isCall(s, Intrinsics.CP_ASYNC_COMMIT)) {
        begin.add(s);
      } else if (isCall(s, Intrinsics.SYNC_THREADS) || isCall(s, Intrinsics.CP_ASYNC_WAIT)) {
        arrived.add(s);
      } else {
        throw new LoweringException(
            "pipelined loop "
                + f.var()
                + " does more than copy tiles and multiply them once, by one instruction");
      }
    }
    Stmt.TileMma mma = Objects.requireNonNull(product);
    Expr stage = mma.a().ranges().getFirst().min();
    OperandsAhead ahead = OperandsAhead.of(mma, code, ring(mma, mma.a()), ring(mma, mma.b()));
    operands.addAll(ahead.registers());
    Stmt loop = ahead.loop(f.var(), f.extent(), stage, Stmts.seq(arrived), Stmts.seq(begin), end);
    return ahead.around(Stmts.seq(before, loop, behind));
  }

  private OperandRing ring(Stmt.TileMma mma, Region region) {
    OperandRing ring = rings.get(region.buffer());
    Region whole = Region.whole(region.buffer());
    if (ring == null || !region.ranges().subList(1, 3).equals(whole.ranges().subList(1, 3))) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "operand %s of the GEMM into %s is no tile that the pipelined loop copies",
              region.buffer().name(),
              mma.c().buffer().name()));
    }
    return ring;
  }

  private List<Stmt.TileCopy> toRings(List<Stmt> copies) {
    List<Stmt.TileCopy> all = new ArrayList<>();
    for (Stmt s : copies) {
      if (!(s instanceof Stmt.TileCopy copy) || !isToRing(copy)) {
        throw new LoweringException("a ring is filled by other than copies");
      }
      all.add(copy);
    }
    return all;
  }

  private StageCopy copy(Stmt.TileCopy copy) {
    return copies.computeIfAbsent(
        new Way(copy.from().buffer(), copy.to().buffer()),
        way -> {
          OperandRing ring = Objects.requireNonNull(rings.get(way.ring()));
          boolean async = ChooseMovement.ASYNC.equals(copy.attrs().getString(ChooseMovement.BY));
          Stmt.TileCopy ofTile =
              new Stmt.TileCopy(Region.whole(ring.tile()), copy.from(), copy.attrs());
          return StageCopy.of(ofTile, ring, code.threads(), async);
        });
  }

  private Stmt begin(List<Stmt.TileCopy> together) {
    return Stmts.seq(together.stream().map(c -> copy(c).begin(c.from(), tid, stage(c))).toList());
  }

  private Stmt end(List<Stmt.TileCopy> together) {
    return Stmts.seq(together.stream().map(c -> copy(c).end(c.from(), tid, stage(c))).toList());
  }

  private static Expr stage(Stmt.TileCopy copy) {
    return copy.to().ranges().getFirst().min();
  }

  private Stmt combined(Stmt.Flow.Combine combine, Stmt product) {
    PartialSums all =
        PartialSums.of(
            CombinedSums.division(combine, 1),
            code.registers(combine.sums()),
            1,
            code.threads(),
            GpuTarget.REGISTERS_PER_THREAD,
            FusedOrder.isIn(func.attrs()) ? WorkTickets.PART_COUNTERS : PartialSums.COUNTERS,
            group -> Exprs.evaluate(Intrinsics.SYNC_THREADS));
    parts = all;
    WorkItems.Part part = new WorkItems.Part(combine.slot(), combine.part(), combine.parts());
    return all.around(part, Exprs.i32(0), tid, product, stmt(combine.body()));
  }

  private Stmt fill(Stmt.TileFill fill) {
    Buffer buffer = fill.to().buffer();
    if (buffer.scope() != Scope.FRAGMENT || !fill.to().equals(Region.whole(buffer))) {
      throw new LoweringException("beside rings only whole fragments are filled");
    }
    return code.fill(buffer, fill.value());
  }
}
