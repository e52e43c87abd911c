package dev.warpwright.lower.tile;

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
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.lower.gpu.WarpRoles;
import dev.warpwright.lower.grid.MergedProgram;
import dev.warpwright.lower.grid.WorkTickets;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The part of {@link DistributeWork} that makes one loop over the tiles of two dependent GEMMs.
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
 */
final class FusedGemms {
  private final WorkTickets tickets;
  private final List<Buffer> allocated = new ArrayList<>();

  private FusedGemms(WorkTickets tickets) {
    this.tickets = tickets;
  }

  /**
   * Distributes the tiles of both.
   *
   * @throws LoweringException if the program is of another form, or its blocks are in clusters
   */
  static PrimFunc apply(PrimFunc func) {
    if (func.attrs().has("clusterM")) {
      throw new LoweringException("GEMMs fused into one grid by wgmma are in no clusters");
    }
    MergedProgram program = MergedProgram.of(func);
    WorkTickets tickets = WorkTickets.of(program, WarpRoles.consumers(func.attrs()));
    FusedGemms fused = new FusedGemms(tickets);
    return new PrimFunc(
        func.name(), tickets.params(func), fused.body(program), tickets.attrs(func.attrs()));
  }

  private Stmt body(MergedProgram program) {
    Stmt first = tile(program.first());
    Stmt second = tile(program.second());
    boolean waits = tickets.waits();
    Var ticket = Var.index("ticket");
    Var entry = Var.index("entry");
    List<Expr> counter = List.of(tickets.ofTile());
    Expr publishers = Exprs.constant(Type.U32, tickets.publishers());
    Stmt signal = new Stmt.Flow.Signal(tickets.counters(), counter, publishers);
    Stmt await =
        new Stmt.Flow.Await(tickets.counters(), counter, Exprs.constant(Type.U32, tickets.all()));
    Stmt either =
        new Stmt.If(
            tickets.isFirst(entry),
            waits ? Stmts.seq(first, signal) : first,
            waits ? Stmts.seq(await, second) : second);
    Stmt item = new Stmt.Let(entry, tickets.entry(ticket), tickets.atTile(entry, either));
    Stmt items =
        new Stmt.For(
            ticket,
            Exprs.i32(0),
            Exprs.i32(program.extents().count()),
            ForKind.PERSISTENT,
            null,
            Attrs.NONE.with(DistributeWork.TICKETS, 1),
            item);
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
    while (Stmts.seq(inner) instanceof Stmt.For f && f.kind() == ForKind.THREAD_BOUND) {
      tile.add(f.var());
      inner = f.body();
    }
    if (tile.size() != 2) {
      throw new LoweringException(grid.name() + " is no grid of tiles");
    }
    Map<Var, Expr> at = Map.of(tile.get(0), tickets.row(), tile.get(1), tickets.column());
    List<Buffer> own = new ArrayList<>();
    List<Stmt> stmts = new ArrayList<>();
    DistributeWork.flatten(inner, own, stmts);
    Map<Buffer, Buffer> places = new HashMap<>();
    List<Buffer> more = new ArrayList<>();
    Set<Buffer> taken = new HashSet<>();
    for (Buffer buffer : own) {
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
    Stmt all = new Substitution(at, places).stmt(Stmts.seq(stmts));
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        return s instanceof Stmt.For f && f.kind() == ForKind.PIPELINED
            ? f.withAttrs(f.attrs().with(DistributeWork.LEAST, 1))
            : super.stmt(s);
      }
    }.stmt(all);
  }

  private static boolean alike(Buffer a, Buffer b) {
    return a.dtype() == b.dtype()
        && a.scope() == b.scope()
        && a.scope() != Scope.GLOBAL
        && a.shape().equals(b.shape())
        && Objects.equals(a.layout(), b.layout());
  }
}
