package dev.warpwright.lower.grid;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.MergedOrder;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Substitution;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Type;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.lower.gpu.LoweringException;
import dev.warpwright.lower.grid.MergedProgram.Wait;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
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
 * <p>Nothing can wait for ever. Tickets are drawn in the order of the table, each block does its
 * own in ascending order, and waits only for tiles that stand before: of all tiles that are not
 * done, the first has been drawn, by a block that does not wait. In which order blocks start, and
 * how many run at a time, does not matter.
 *
 * <p>A ticket is drawn while the tile before it is computed, for the answer takes as long as a
 * short step. The counters go back to zero for the next launch when every block has left the loop:
 * then nobody looks at them any more.
 *
 * <p>What both grids have in shared memory shares its place. Whoever launches the kernel makes the
 * table {@code order: i32[tiles]} from its attributes ({@link MergedOrder}), and the counters zero
 * before the first launch.
 */
public final class MergedGrids {
  private static final String COUNTERS = "counters";

  /** The counters: tickets drawn, blocks that have left, and complete tiles from here on. */
  private static final int TICKETS = 0;

  private static final int LEFT = 1;
  private static final int TILES = 2;

  private final MergedProgram program;
  private final List<ThreadBinding> threads;
  private final Buffer table;
  private final Buffer counters;
  private final Buffer turn = Buffer.of("turn", DType.I32, Scope.SHARED, 1);
  private final Buffer item = Buffer.of("item", DType.I32, Scope.LOCAL, 1);
  private final Buffer next = Buffer.of("next", DType.I32, Scope.LOCAL, 1);
  private final Var row = Var.index("tile_m");
  private final Var column = Var.index("tile_n");

  private MergedGrids(MergedProgram program, List<ThreadBinding> threads) {
    this.program = program;
    this.threads = threads;
    this.table = Buffer.of("order", DType.I32, Scope.GLOBAL, program.extents().count());
    int rows = program.waits() == Wait.ROW ? program.extents().rows() : 1;
    this.counters = Buffer.of(COUNTERS, DType.U32, Scope.GLOBAL, (long) TILES + rows);
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
          "the grids of %s have different blocks of threads: %s and %s"
              .formatted(func.name(), threads, others));
    }
    Kernel kernel = new MergedGrids(program, threads).kernel(func, first, second);
    listener.tell("MergedGrids", kernel);
    return listener.tell("Simplify", Simplify.kernel(kernel));
  }

  private static List<ThreadBinding> threads(Kernel kernel) {
    return kernel.bindings().stream().filter(b -> !b.axis().isBlock()).toList();
  }

  private Kernel kernel(PrimFunc func, Kernel first, Kernel second) {
    List<Param> params = new ArrayList<>(func.params());
    params.addAll(program.handed());
    params.add(table);
    params.add(counters);
    List<ThreadBinding> bindings = new ArrayList<>();
    bindings.add(
        new ThreadBinding(ThreadAxis.BLOCK_X, Var.index("bx"), Exprs.i32(program.blocks())));
    bindings.addAll(threads);
    Attrs attrs =
        program
            .extents()
            .in(first.attrs())
            .with(MergedOrder.ORDER, program.order().text())
            .with("zero", COUNTERS);
    return new Kernel(
        func.name(),
        Kernel.Kind.GRID,
        params,
        bindings,
        Stmts.alloc(List.of(turn, item, next), body(tile(first), tile(second))),
        attrs);
  }

  /** A grid's body for the tile at hand and the threads of this kernel. */
  private Stmt tile(Kernel grid) {
    Map<Var, Expr> vars = new HashMap<>();
    for (ThreadBinding binding : grid.bindings()) {
      switch (binding.axis()) {
        case BLOCK_X -> vars.put(binding.var(), column);
        case BLOCK_Y -> vars.put(binding.var(), row);
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
    boolean waits = program.waits() != Wait.NOTHING;
    Var entry = Var.index("entry");
    Expr isFirst = new Expr.Binary(BinaryOp.GE, entry, Exprs.i32(0));
    Expr isSecond = Exprs.lt(entry, Exprs.i32(0));
    Stmt begin =
        Stmts.seq(set(next, draw()), waits ? new Stmt.If(isSecond, spin(), null) : Stmt.Seq.EMPTY);
    Stmt publish =
        Exprs.evaluate(
            HopperIntrinsics.RED_RELEASE, address(ofTile()), Exprs.constant(Type.U32, 1));
    Stmt work =
        Stmts.seq(
            oneThread(begin),
            barrier(),
            new Stmt.If(isFirst, first, second),
            oneThread(set(turn, at(next))),
            barrier(),
            set(item, at(turn)),
            waits ? oneThread(new Stmt.If(isFirst, publish, null)) : Stmt.Seq.EMPTY);
    Stmt tiles =
        new Stmt.Let(
            entry,
            Exprs.load(table, at(item)),
            new Stmt.Let(
                row,
                Exprs.bitAnd(Exprs.shr(entry, 16), MergedOrder.MAX_ROWS - 1),
                new Stmt.Let(column, Exprs.bitAnd(entry, MergedOrder.MAX_COLUMNS - 1), work)));
    return Stmts.seq(
        oneThread(set(turn, draw())),
        barrier(),
        set(item, at(turn)),
        new Stmt.While(Exprs.lt(at(item), Exprs.i32(program.extents().count())), tiles),
        oneThread(leave()));
  }

  /** The counter that a tile of the first grid adds to, and one of the second waits for. */
  private Expr ofTile() {
    return program.waits() == Wait.ROW ? Exprs.add(row, TILES) : Exprs.i32(TILES);
  }

  private Stmt spin() {
    MergedOrder.Extents e = program.extents();
    long full = (program.waits() == Wait.ROW ? 1L : e.rows()) * e.columns();
    Expr complete = call(HopperIntrinsics.LOAD_ACQUIRE, address(ofTile()));
    return new Stmt.While(Exprs.lt(complete, Exprs.constant(Type.U32, full)), Stmt.Seq.EMPTY);
  }

  private Expr draw() {
    return Exprs.cast(DType.I32, add(TICKETS));
  }

  private Expr add(int counter) {
    return call(
        HopperIntrinsics.ATOMIC_ADD, address(Exprs.i32(counter)), Exprs.constant(Type.U32, 1));
  }

  /** The last block to leave makes everything zero. */
  private Stmt leave() {
    Expr last = Exprs.eq(add(LEFT), Exprs.constant(Type.U32, program.blocks() - 1));
    Var c = Var.index("c");
    Stmt zero =
        Stmt.For.of(
            ForKind.SERIAL,
            c,
            Exprs.i32(counters.extent(0)),
            new Stmt.Store(counters, List.of(c), Exprs.constant(Type.U32, 0)));
    return new Stmt.If(last, zero, null);
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

  private Expr address(Expr counter) {
    return new Expr.AddressOf(counters, List.of(counter));
  }

  private static Stmt set(Buffer one, Expr value) {
    return new Stmt.Store(one, List.of(Exprs.i32(0)), value);
  }

  private static Expr at(Buffer one) {
    return new Expr.Load(one, List.of(Exprs.i32(0)));
  }

  private static Expr call(TargetIntrinsic intrinsic, Expr... args) {
    return new Expr.Call(intrinsic, List.of(args), Type.U32);
  }
}
