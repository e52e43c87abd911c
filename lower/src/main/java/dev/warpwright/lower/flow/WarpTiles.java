package dev.warpwright.lower.flow;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.block.TilesOfWarps;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.FragmentOrder;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.MMajor;
import dev.warpwright.lower.gpu.MapLowering;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.GridLoops;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The part of {@code LowerTiles} for blocks whose warps compute each for itself, with operands in
 * their registers and weights in shared memory ({@link OrderedWeights}).
 *
 * <pre>{@code
 * tile.copy Ws[0] <- W [by = "cp.async"]      unroll it in … { cp.async.16(&Ws[…], &W[…], 16) }
 * …; sync_threads()                           …; sync_threads()
 * roles {                                 →   let g = tid / 32 in let lane = tid % 32 in
 *   role math[12] as g warps 1 {                b[0 .. 4] = Ws[… + lane * 8 .. + 8]
 *     tile.mma acc += a * Ws[0]^T               mma.m16n8k16…(&acc[0], &a[0], &b[0]) …
 * } }
 * }</pre>
 */
final class WarpTiles {
  private static final int CHUNK = 16;

  private final PrimFunc func;
  private final Var tid = Var.index("tid");
  private final Map<Buffer, Buffer> flat = new HashMap<>();
  private final List<Buffer> shared = new ArrayList<>();
  private final int threads;

  private WarpTiles(PrimFunc func, Role role) {
    this.func = func;
    this.threads = role.instances() * role.warps() * 32;
    if (threads > GpuTarget.THREADS_PER_BLOCK) {
      throw new LoweringException(
          func.name() + " has roles of " + threads + " threads; a block has at most 1024");
    }
  }

  /** Whether the one role of a program has products of warps. */
  static boolean are(PrimFunc func) {
    boolean[] found = {false};
    Walk.statements(
        func.body(), s -> found[0] |= s instanceof Stmt.TileMma mma && FragmentOrder.isFor(mma));
    return found[0] || areByFma(func.body());
  }

  /** Whether warps multiply by fma, each with tiles in shared memory of its own. */
  static boolean areByFma(Stmt body) {
    boolean[] found = {false};
    Walk.statements(body, s -> found[0] |= s instanceof Stmt.TileMma mma && MMajor.isFor(mma));
    return found[0];
  }

  static Kernel kernel(PrimFunc func, GpuTarget target) {
    List<Role> roles = new ArrayList<>();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.Flow.Roles(List<Role> all)) {
            roles.addAll(all);
          }
        });
    if (roles.size() != 1) {
      throw new LoweringException(
          func.name() + " has " + roles.size() + " roles, but GEMMs of warps have one");
    }
    return new WarpTiles(func, roles.getFirst()).kernel(target);
  }

  private Kernel kernel(GpuTarget target) {
    List<ThreadBinding> bindings = new ArrayList<>();
    Stmt body = block(func.body(), bindings);
    bindings.add(new ThreadBinding(ThreadAxis.THREAD_X, tid, Exprs.i32(threads)));
    Attrs attrs =
        func.attrs()
            .without("threads")
            .with("arch", target.name())
            .with("minBlocks", func.attrs().getLong("minBlocks", 1));
    // Where weights come from memory, ptxas has so many on their way that a word or two may spill.
    attrs = readsMemory() ? attrs : attrs.with("fast", 1);
    return new Kernel(
        func.name(), Kernel.Kind.GRID, func.params(), bindings, Stmts.alloc(shared, body), attrs);
  }

  private boolean readsMemory() {
    boolean[] found = {false};
    Walk.statements(
        func.body(),
        s -> found[0] |= s instanceof Stmt.TileMma mma && mma.b().buffer().scope() == Scope.GLOBAL);
    return found[0];
  }

  private Stmt block(Stmt s, List<ThreadBinding> bindings) {
    return switch (s) {
      case Stmt.For f when GridLoops.is(f) -> {
        bindings.add(GridLoops.binding(f));
        yield block(f.body(), bindings);
      }
      case Stmt.Alloc(Buffer buffer, Stmt body)
          when buffer.scope() == Scope.SHARED && !FragmentOrder.is(buffer) -> {
        shared.add(buffer);
        yield block(body, bindings);
      }
      case Stmt.Alloc(Buffer buffer, Stmt body) when buffer.scope() == Scope.SHARED -> {
        Buffer elements =
            Buffer.of(buffer.name(), buffer.dtype(), Scope.SHARED, buffer.storageElements());
        flat.put(buffer, elements);
        shared.add(elements);
        yield block(body, bindings);
      }
      case Stmt.Let l -> new Stmt.Let(l.var(), l.value(), block(l.body(), bindings));
      case Stmt.Seq(List<Stmt> stmts) ->
          Stmts.seq(stmts.stream().map(each -> block(each, bindings)).toList());
      case Stmt.If(Expr condition, Stmt then, Stmt otherwise) when otherwise == null ->
          new Stmt.If(condition, block(then, bindings), null);
      case Stmt.For f -> f.withBody(block(f.body(), bindings));
      case Stmt.TileCopy copy -> copy(copy);
      case Stmt.Flow.Roles(List<Role> roles) -> role(roles.getFirst());
      case Stmt.Evaluate _, Stmt.Comment _ -> s;
      default ->
          throw new LoweringException(
              s.getClass().getSimpleName() + " stands beside a role of warps");
    };
  }

  private Stmt role(Role role) {
    int size = role.warps() * 32;
    Var instance = role.instance() == null ? Var.index("g") : role.instance();
    Var lane = Var.index("lane");
    return new Stmt.Let(
        instance,
        Exprs.div(tid, size),
        new Stmt.Let(lane, Exprs.mod(tid, size), warps(role, lane, instance, size)));
  }

  private Stmt warps(Role role, Var lane, Var instance, int size) {
    if (areByFma(role.body())) {
      return TilesOfWarps.lowered(role.body(), lane, instance, role.instances(), shared);
    }
    WarpCode code = new WarpCode(role.body(), lane, instance, role.instances(), size, flat);
    Stmt body = code.lowered(role.body());
    shared.addAll(code.shared());
    return body;
  }

  /** All threads copy weights. */
  private Stmt copy(Stmt.TileCopy copy) {
    Buffer tile = copy.to().buffer();
    Buffer elements = flat.get(tile);
    if (shared.contains(tile) && ChooseMovement.isByThreads(copy.attrs())) {
      ThreadCode all = new ThreadCode(tid, threads, Map.of());
      return new CopyLowering(all, new MapLowering(all)).copy(copy);
    }
    if (elements == null || !ChooseMovement.isByThreads(copy.attrs())) {
      throw new LoweringException("the copy to " + tile.name() + " is carried by nobody");
    }
    ThreadCode code = new ThreadCode(tid, threads, Map.of());
    int rank = tile.rank();
    long rows = tile.extent(rank - 2);
    long depth = tile.extent(rank - 1);
    Expr slice = rank == 3 ? copy.to().ranges().getFirst().min() : Exprs.i32(0);
    if (!OrderedWeights.isLinear(copy)) {
      return scattered(copy, code, elements);
    }
    int lanes = FragmentOrder.LANES;
    return code.spread(
        rows * depth / lanes,
        piece -> {
          Expr block = Exprs.div(piece, 32);
          Expr row =
              Exprs.add(
                  Exprs.mul(Exprs.mod(block, rows / FragmentOrder.BLOCK), FragmentOrder.BLOCK),
                  Exprs.mod(Exprs.div(piece, 4), 8));
          Expr k =
              Exprs.add(
                  Exprs.mul(Exprs.div(block, rows / FragmentOrder.BLOCK), FragmentOrder.BLOCK),
                  Exprs.mul(Exprs.mod(piece, 4), 2));
          Expr to = Exprs.add(Exprs.mul(slice, rows * depth), Exprs.mul(piece, lanes));
          return Exprs.evaluate(
              Intrinsics.CP_ASYNC_16,
              new Expr.AddressOf(elements, List.of(to)),
              new Expr.AddressOf(
                  copy.from().buffer(), Guards.indices(copy.from(), List.of(row, k))),
              Exprs.i32(CHUNK));
        });
  }

  /** Element by element: weights that nobody has packed. */
  private Stmt scattered(Stmt.TileCopy copy, ThreadCode code, Buffer elements) {
    Stmt plain = new MapLowering(code).copy(copy);
    return new Flattened(copy.to().buffer(), elements).stmt(plain);
  }

  /** Puts the elements of a tile in the place of the tile. */
  private static final class Flattened extends Rewriter {
    private final Buffer tile;
    private final Buffer elements;

    Flattened(Buffer tile, Buffer elements) {
      this.tile = tile;
      this.elements = elements;
    }

    @Override
    public Stmt stmt(Stmt s) {
      if (s instanceof Stmt.Store(Buffer buffer, List<Expr> at, Expr value) && buffer == tile) {
        Expr element = Objects.requireNonNull(tile.layout()).offset(at);
        return new Stmt.Store(elements, List.of(element), value);
      }
      return super.stmt(s);
    }
  }
}
