package dev.warpwright.lower.copy;

import dev.warpwright.ir.Attrs;
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
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.gpu.WarpRoles;
import dev.warpwright.lower.grid.WorkTickets;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.intrinsic.CounterIntrinsics;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.List;

/**
 * What all blocks of a grid do together before any of them begins with its tiles: operands that are
 * packed, one matrix after the other, into memory of the program's own.
 *
 * <pre>{@code
 * alloc B_global global                        while a share is left {
 * tile.map { B_global[j, i] = B[i, j] }          share = draw            ahead, by one thread
 * persistent t in tiles {                        B_global[…] = B[…]      all threads
 *   … tile.copy Bs <- B_global[…] …      →     }
 * }                                            signal done by shares; await done >= all
 *                                              the kernel of the loop over tiles
 * }</pre>
 *
 * <p>Blocks draw their shares, and none waits before all are drawn: whoever waits, waits for blocks
 * that have begun and wait for nothing. So in which order blocks start, and how many run at a time,
 * does not matter. The last block that has waited sets the counters back to zero for the next
 * launch.
 *
 * <p>Threads write what TMA copies of other blocks read: each writer orders its stores before its
 * block tells of them, each reader its copies behind the wait.
 *
 * <p>First of all passes, for those behind it see an operand like any other; what it has put aside
 * comes back in front of the kernel, before that is simplified.
 */
public final class GridPrologue {
  /** Shared memory that it takes of a block. */
  public static final long SHARED_BYTES = 16;

  private static final String NAME = "prologueCounters";
  private static final String ZERO = "zero";

  /** Of the counters: shares that are drawn, as {@link WorkTickets} counts them, and done. */
  private static final int DRAWN = 0;

  private static final int DONE = 2;

  private static final List<Expr> FIRST = List.of(Exprs.i32(0));

  private final Buffer counters = Buffer.of(NAME, DType.U32, Scope.GLOBAL, DONE + 1L);
  private final PrimFunc rest;
  private final List<Stmt> maps;

  private GridPrologue(PrimFunc rest, List<Stmt> maps) {
    this.rest = rest;
    this.maps = List.copyOf(maps);
  }

  /** What stands in front of a program's tiles; tells what is behind it, if anything does. */
  public static GridPrologue of(PrimFunc func, PassListener listener) {
    List<Buffer> packed = new ArrayList<>();
    List<Stmt> maps = new ArrayList<>();
    Stmt body = apart(func.body(), packed, maps);
    if (packed.isEmpty() || maps.isEmpty()) {
      return new GridPrologue(func, List.of());
    }
    List<Param> params = new ArrayList<>(func.params());
    params.addAll(packed);
    PrimFunc rest = new PrimFunc(func.name(), params, body, func.attrs());
    return new GridPrologue(listener.tell("GridPrologue", rest), maps);
  }

  /** What is behind the allocations and the maps. */
  private static Stmt apart(Stmt s, List<Buffer> packed, List<Stmt> maps) {
    return switch (s) {
      case Stmt.Alloc(Buffer buffer, Stmt inner) when buffer.scope() == Scope.GLOBAL -> {
        packed.add(buffer);
        yield apart(inner, packed, maps);
      }
      case Stmt.Seq(List<Stmt> all) when !all.isEmpty() && isPacking(all.getFirst()) -> {
        maps.add(all.getFirst());
        yield apart(Stmts.seq(all.subList(1, all.size())), packed, maps);
      }
      default -> s;
    };
  }

  /** Whether a statement in front of all tiles fills a matrix. */
  private static boolean isPacking(Stmt s) {
    return s instanceof Stmt.TileMap
        || s instanceof Stmt.TileCopy copy
            && copy.from().buffer().scope() == Scope.GLOBAL
            && copy.to().buffer().scope() == Scope.GLOBAL;
  }

  /** The program behind it, whose packed operands are parameters. */
  public PrimFunc rest() {
    return rest;
  }

  /**
   * The kernel with all of this in front; as it is, if there is nothing.
   *
   * @param kernel of {@link #rest}
   * @throws LoweringException if what is packed is no matrix, nor a transposed one
   */
  public Kernel inFrontOf(Kernel kernel, PassListener listener) {
    return maps.isEmpty() ? kernel : listener.tell("GridPrologue", inFrontOf(kernel));
  }

  private Kernel inFrontOf(Kernel kernel) {
    ThreadBinding threads =
        kernel
            .binding(ThreadAxis.THREAD_X)
            .orElseThrow(() -> new LoweringException(kernel.name() + " has no threads"));
    long blocks = 1;
    for (ThreadBinding binding : kernel.bindings()) {
      if (binding.axis().isBlock()) {
        if (!(binding.extent() instanceof Expr.IntImm extent)) {
          throw new LoweringException(kernel.name() + " packs operands by a number of blocks");
        }
        blocks *= extent.value();
      }
    }
    int block = kernel.threadsPerBlock();
    int onSm = block * Math.toIntExact(kernel.attrs().getLong("minBlocks", 1));
    Stmt packing = packing(threads.var(), block / 32, WarpRoles.launchRegisters(onSm), blocks);
    List<Param> params = new ArrayList<>(kernel.params());
    params.add(counters);
    String zero = kernel.attrs().getString(ZERO);
    Attrs attrs = kernel.attrs().with(ZERO, zero == null ? NAME : zero + "," + NAME);
    return new Kernel(
        kernel.name(),
        kernel.kind(),
        params,
        kernel.bindings(),
        Stmts.seq(packing, kernel.body()),
        attrs);
  }

  private Stmt packing(Var tid, int warps, int registers, long blocks) {
    Buffer turn = Buffer.of("share", DType.I32, Scope.SHARED, 1);
    Buffer mine = Buffer.of("myShare", DType.I32, Scope.LOCAL, 1);
    Buffer next = Buffer.of("nextShare", DType.I32, Scope.LOCAL, 1);
    Buffer moved = Buffer.of("moved", DType.U32, Scope.LOCAL, 1);
    List<PackedMatrix> matrices =
        maps.stream().map(map -> packed(map, warps, registers, blocks)).toList();
    long shares = matrices.stream().mapToLong(PackedMatrix::shares).sum();
    Expr one = Exprs.constant(Type.U32, 1);
    // Who draws is told nothing: it is the counter of what is done that orders stores and copies.
    Expr drawn = Exprs.cast(DType.I32, counted(CounterIntrinsics.ATOMIC_ADD_RELAXED, DRAWN, one));
    Expr share = new Expr.Load(mine, FIRST);
    Stmt take = set(mine, new Expr.Load(turn, FIRST));
    Stmt each =
        Stmts.seq(
            // All have read their share: the next one may be handed on.
            barrier(),
            first(tid, set(next, drawn), set(moved, Exprs.add(new Expr.Load(moved, FIRST), one))),
            moves(matrices, share, tid),
            first(tid, set(turn, new Expr.Load(next, FIRST))),
            barrier(),
            take);
    return Stmts.alloc(
        List.of(turn, mine, next, moved),
        Stmts.seq(
            set(moved, Exprs.constant(Type.U32, 0)),
            first(tid, set(turn, drawn)),
            barrier(),
            take,
            new Stmt.While(Exprs.lt(share, Exprs.i32(shares)), each),
            Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC_GLOBAL),
            barrier(),
            first(
                tid,
                new Stmt.Evaluate(
                    counted(CounterIntrinsics.RED_RELEASE, DONE, new Expr.Load(moved, FIRST))),
                WorkTickets.await(
                    counters, List.of(Exprs.i32(DONE)), Exprs.constant(Type.U32, shares)),
                WorkTickets.leave(counters, blocks)),
            barrier(),
            Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC_GLOBAL),
            // Copies overwrite the place of the share, too.
            Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC)));
  }

  private Expr.Call counted(TargetIntrinsic intrinsic, int counter, Expr by) {
    Expr address = new Expr.AddressOf(counters, List.of(Exprs.i32(counter)));
    return new Expr.Call(intrinsic, List.of(address, by), Type.U32);
  }

  /** A share is one of the first matrix, or one of those behind it. */
  private static Stmt moves(List<PackedMatrix> matrices, Expr share, Var tid) {
    PackedMatrix matrix = matrices.getFirst();
    if (matrices.size() == 1) {
      return matrix.move(share, tid);
    }
    Stmt others =
        moves(
            matrices.subList(1, matrices.size()),
            Exprs.sub(share, Exprs.i32(matrix.shares())),
            tid);
    return new Stmt.If(
        Exprs.lt(share, Exprs.i32(matrix.shares())), matrix.move(share, tid), others);
  }

  /** {@code to[j, i] = from[i, j]} or {@code to[i, j] = from[i, j]}, all of it. */
  private static PackedMatrix packed(Stmt s, int warps, int registers, long blocks) {
    if (s instanceof Stmt.TileMap map
        && map.stores().size() == 1
        && map.vars().size() == 2
        && map.stores().getFirst() instanceof Stmt.Store store
        && store.value() instanceof Expr.Load load
        && load.indices().equals(map.vars())
        && store.indices().equals(List.of(map.vars().get(1), map.vars().get(0)))
        && load.buffer().shape().equals(map.extents())) {
      return new TransposedMatrix(load.buffer(), store.buffer(), warps, registers, blocks);
    }
    if (s instanceof Stmt.TileCopy(Region to, Region from, var _)
        && from.equals(Region.whole(from.buffer()))
        && to.equals(Region.whole(to.buffer()))) {
      return new AlignedMatrix(from.buffer(), to.buffer(), 32 * warps, registers, blocks);
    }
    throw new LoweringException(
        "what is made in front of all tiles is neither a matrix nor a transposed one: " + s);
  }

  private static Stmt first(Var tid, Stmt... stmts) {
    return new Stmt.If(Exprs.eq(tid, Exprs.i32(0)), Stmts.seq(stmts), null);
  }

  private static Stmt set(Buffer one, Expr value) {
    return new Stmt.Store(one, FIRST, value);
  }

  private static Stmt barrier() {
    return Exprs.evaluate(Intrinsics.SYNC_THREADS);
  }
}
