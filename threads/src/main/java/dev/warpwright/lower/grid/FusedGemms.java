package dev.warpwright.lower.grid;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.Allocated;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The part of {@code DistributeWork} that makes one loop over the tiles of two dependent GEMMs.
 *
 * <pre>{@code
 * persistent x in 6 [blocks = 2,          bind bx: blockIdx.x in 2 {
 *     columns = 2, wait = "row", …] {       persistent ticket in 6 [tickets = 1] {
 *   if x < 4 {                                let entry = order[ticket]
 *     S(x)                                    let tile_m = entry >> 16 & 32767
 *   } else {                             →    let tile_n = entry & 65535
 *     R(x - 4)                                if entry >= 0 {
 *   }                                           S(tile_m, tile_n)
 * }                                             signal counters[tile_m + 2] by 2u32
 *                                             } else {
 *                                               await counters[tile_m + 2] >= 4u32
 *                                               R(tile_m, tile_n)
 *                                         } } }
 * }</pre>
 *
 * <p>The order of tiles is data, a table whose entries name a tile, and by their sign the GEMM. A
 * tile stands behind those that it waits for, and blocks draw them in this order: {@link
 * WorkTickets} says why nothing waits for ever. What both GEMMs allocate alike, sums by the same
 * instruction and results, is one buffer.
 *
 * <p>Stands where work is distributed, in front of whatever looks at a block's loops: pipes, copies
 * ahead and barriers see one program.
 */
public final class FusedGemms {
  /** Of a persistent loop: blocks draw its items. */
  public static final String TICKETS = "tickets";

  /** Of a loop over steps: it has one at least. */
  public static final String LEAST = "least";

  private final WorkTickets tickets;
  private final List<Buffer> allocated = new ArrayList<>();

  /** Of a fragment, what multiplies into it. */
  private final Map<Buffer, Attrs> products = new HashMap<>();

  private FusedGemms(WorkTickets tickets) {
    this.tickets = tickets;
  }

  /**
   * Distributes the tiles of both among blocks whose threads all do the same, if a program's blocks
   * share the work of two grids; others stay as they are. Accesses are guarded there, so row and
   * column say how large they can be.
   *
   * @throws LoweringException if the program is of another form, or its blocks are in clusters
   */
  public static PrimFunc ofBlocks(PrimFunc func) {
    return FusedProgram.isFused(func) ? apply(func, 1, true) : func;
  }

  /**
   * Distributes the tiles of both among blocks with roles.
   *
   * @param publishers how many tell that a tile is done
   * @throws LoweringException if the program is of another form, or its blocks are in clusters
   */
  public static PrimFunc ofRoles(PrimFunc func, int publishers) {
    return apply(func, publishers, false);
  }

  private static PrimFunc apply(PrimFunc func, int publishers, boolean guarded) {
    if (func.attrs().has("clusterM")) {
      throw new LoweringException("blocks that share the work of two grids are in no clusters");
    }
    FusedProgram program = FusedProgram.of(func);
    if (program.extents().parts() > 1 && !guarded) {
      throw new LoweringException(
          "parts of the second GEMM's K are added up by blocks without roles");
    }
    WorkTickets tickets = WorkTickets.of(program, publishers);
    FusedGemms fused = new FusedGemms(tickets);
    return new PrimFunc(
        func.name(),
        tickets.params(func),
        fused.body(program, guarded),
        tickets.attrs(func.attrs()));
  }

  private Stmt body(FusedProgram program, boolean guarded) {
    Stmt first = tile(program.first());
    Stmt second = tile(program.second());
    Var ticket = Var.index("ticket");
    Var entry = Var.index("entry");
    WaitPolicy waits = program.waits();
    boolean byTile = waits != null && waits.part() == WaitPolicy.Part.TILE;
    second = byTile ? new TileWaits(first, tickets).in(second) : second;
    FusedOrder.Extents of = program.extents();
    second = of.parts() == 1 ? second : new TileParts(first, tickets).in(second);
    if (waits != null) {
      Expr publishers = Exprs.constant(Type.U32, tickets.publishers());
      List<Expr> signalled = List.of(tickets.signalled(waits, tickets.column()));
      first = Stmts.seq(first, new Stmt.Flow.Signal(tickets.counters(), signalled, publishers));
    }
    if (waits != null && !byTile) {
      List<Expr> awaited = List.of(tickets.awaited(waits));
      second =
          Stmts.seq(new Stmt.Flow.Await(tickets.counters(), awaited, tickets.all(waits)), second);
    }
    Stmt either =
        new Stmt.If(
            tickets.isFirst(entry),
            guarded ? tickets.atTile(entry, of.rows(), of.columns(), first) : first,
            guarded ? tickets.atPart(entry, second) : second);
    Stmt tile = guarded ? either : tickets.atTile(entry, either);
    Stmt items =
        new Stmt.For(
            ticket,
            Exprs.i32(0),
            Exprs.i32(program.extents().count()),
            ForKind.PERSISTENT,
            null,
            Attrs.NONE.with(TICKETS, 1),
            new Stmt.Let(entry, tickets.entry(ticket), tile));
    return new Stmt.For(
        tickets.blocks().var(),
        Exprs.i32(0),
        tickets.blocks().extent(),
        ForKind.THREAD_BOUND,
        tickets.blocks().axis(),
        Attrs.NONE,
        Stmts.alloc(allocated, items));
  }

  /** What is done for the tile at hand. */
  private Stmt tile(PrimFunc grid) {
    List<Var> tile = new ArrayList<>();
    Stmt inner = grid.body();
    while (Stmts.seq(inner) instanceof Stmt.For f && f.axis() != null && f.axis().isBlock()) {
      tile.add(f.var());
      inner = f.body();
    }
    if (tile.size() != 2) {
      throw new LoweringException(grid.name() + " is no grid of tiles");
    }
    Map<Var, Expr> at = Map.of(tile.get(0), tickets.row(), tile.get(1), tickets.column());
    List<Buffer> own = new ArrayList<>();
    List<Stmt> stmts = new ArrayList<>();
    Allocated.apart(inner, own, stmts);
    Walk.statements(
        inner,
        s -> {
          if (s instanceof Stmt.TileMma mma) {
            products.put(mma.c().buffer(), mma.attrs());
          }
        });
    Map<Buffer, Buffer> places = new HashMap<>();
    List<Buffer> more = new ArrayList<>();
    Set<Buffer> taken = new HashSet<>();
    List<Buffer> locals = new ArrayList<>();
    for (Buffer buffer : own) {
      if (buffer.scope() == Scope.LOCAL) {
        locals.add(buffer);
        continue;
      }
      Buffer known =
          allocated.stream()
              .filter(other -> alike(other, buffer) && taken.add(other))
              .findFirst()
              .orElse(null);
      if (known == null) {
        more.add(buffer);
      } else {
        places.put(buffer, known);
      }
    }
    allocated.addAll(more);
    Stmt all = new Substitution(at, places).stmt(Stmts.alloc(locals, Stmts.seq(stmts)));
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        return s instanceof Stmt.For f && f.kind() == ForKind.PIPELINED
            ? f.withAttrs(f.attrs().with(LEAST, 1))
            : super.stmt(s);
      }
    }.stmt(all);
  }

  private boolean alike(Buffer a, Buffer b) {
    return a.dtype() == b.dtype()
        && a.scope() == b.scope()
        && Objects.equals(products.get(a), products.get(b))
        && a.shape().equals(b.shape())
        && Objects.equals(a.layout(), b.layout());
  }
}
