package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Walk;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Executes a grid kernel: warps of 32 lanes in lockstep, with masks where they diverge; warps take
 * turns at barriers. Results are bit-exact. Always checked: bounds, alignment of vectors, reads of
 * shared and local memory that was never written, whole warps at warp-wide intrinsics, whole blocks
 * at barriers. Asynchronous copies happen when they are waited for. Races are conflicting accesses
 * of different warps without a barrier between them, or of different blocks.
 *
 * <p>The kernel is compiled to closures once; {@link #run} may be called any number of times.
 */
public final class GridInterpreter {
  private static final int WARP = 32;
  private static final int MAX_THREADS = 1024;

  private final Kernel kernel;
  private final GridOptions options;
  private final Context context;
  private final WarpNode body;
  private final List<Buffer> shared;
  private final Set<Buffer> written = Collections.newSetFromMap(new IdentityHashMap<>());

  /**
   * Compiles a kernel.
   *
   * @throws IllegalArgumentException for a host kernel, or one with statements that no kernel has
   */
  public GridInterpreter(Kernel kernel, GridOptions options) {
    if (kernel.kind() != Kernel.Kind.GRID) {
      throw new IllegalArgumentException(kernel.name() + " is a host kernel");
    }
    this.kernel = kernel;
    this.options = options;
    this.context = new Context(Source.of(kernel), Precision.EXACT, new Symbols(), true, true);
    GridCompiler compiler = new GridCompiler(context);
    this.body = compiler.compile(kernel.body());
    this.shared = List.copyOf(compiler.shared());
    kernel.bindings().forEach(b -> context.symbols().slot(b.var()));
    findWritten();
  }

  private void findWritten() {
    Walk.all(
        kernel.body(),
        s -> {
          if (s instanceof Stmt.Store store) {
            written.add(store.buffer());
          }
        },
        e -> {
          if (e instanceof Expr.Call(Intrinsic intrinsic, List<Expr> args, var type)) {
            for (int i = 0; i < args.size(); i++) {
              if (args.get(i) instanceof Expr.AddressOf address
                  && intrinsic.operands().get(i).access() != Intrinsic.Access.READ) {
                written.add(address.buffer());
              }
            }
          }
        });
  }

  /**
   * Runs on these arguments, whose arrays are read and written.
   *
   * @throws SimulationError at the first finding
   */
  public void run(Arguments arguments) {
    execute(arguments, Shadow.THROWING);
  }

  /**
   * Runs and gives everything found, one race for each statement; a finding other than a race ends
   * the execution.
   */
  public List<Finding> check(Arguments arguments) {
    return RaceCollector.collect(races -> execute(arguments, races));
  }

  /** Runs; races go to the sink. */
  void execute(Arguments arguments, Shadow.FindingSink sink) {
    long[] blocks = new long[3];
    long[] threads = new long[3];
    for (ThreadAxis axis : ThreadAxis.values()) {
      long extent = arguments.evaluate(kernel.extent(axis)).longValue();
      (axis.isBlock() ? blocks : threads)[axis.dimension()] = extent;
    }
    Grid grid = new Grid(arguments, sink, Index3.of(blocks), Index3.of(threads), context.symbols());
    long perBlock = grid.threads.count();
    if (perBlock < 1 || perBlock > MAX_THREADS) {
      throw new IllegalArgumentException(
          kernel.name()
              + " has "
              + perBlock
              + " threads in a block, between 1 and "
              + MAX_THREADS
              + " are possible");
    }
    for (Param p : kernel.params()) {
      if (p instanceof Buffer b && context.symbols().knows(b)) {
        bind(grid, b);
      }
    }
    schedule(grid, Math.toIntExact(grid.blocks.count()));
  }

  private void bind(Grid grid, Buffer b) {
    grid.arguments.check(b, Precision.EXACT);
    NdArray array = grid.arguments.get(b);
    int slot = context.symbols().slot(b);
    grid.memory[slot] = array.bytes();
    grid.outer[slot] = array.rank() == 0 ? 1 : array.shape()[0];
    if (options.checkRaces() && written.contains(b)) {
      int elements = array.bytes().length / b.dtype().bytes();
      grid.shadows[slot] = new Shadow(context, b, elements, false, true, grid.sink);
    }
  }

  private void schedule(Grid grid, int blocks) {
    SplittableRandom random = new SplittableRandom(options.seed());
    int[] order = Options.order(options.blocks(), blocks, random);
    List<BlockRun> resident = new ArrayList<>();
    List<Warp> runnable = new ArrayList<>();
    int next = 0;
    while (next < blocks || !resident.isEmpty()) {
      while (next < blocks && resident.size() < options.residentBlocks()) {
        resident.add(start(grid, order[next++]));
      }
      runnable.clear();
      resident.forEach(block -> block.addRunnable(runnable));
      if (!runnable.isEmpty()) {
        choose(runnable, random).resume();
      }
      resident.forEach(BlockRun::releaseBarrier);
      resident.removeIf(BlockRun::finished);
    }
  }

  private Warp choose(List<Warp> runnable, SplittableRandom random) {
    return switch (options.warps()) {
      case FIRST -> runnable.getFirst();
      case LAST -> runnable.getLast();
      case RANDOM -> runnable.get(random.nextInt(runnable.size()));
    };
  }

  private BlockRun start(Grid grid, int number) {
    Symbols symbols = context.symbols();
    byte[][] memory = grid.memory.clone();
    long[] outer = grid.outer.clone();
    Shadow[] shadows = grid.shadows.clone();
    for (Buffer b : shared) {
      int slot = symbols.slot(b);
      int elements = Math.toIntExact(b.storageElements());
      memory[slot] = new byte[elements * b.dtype().bytes()];
      Bytes.poison(b.dtype(), memory[slot]);
      outer[slot] = b.rank() == 0 ? 1 : b.extent(0);
      shadows[slot] = new Shadow(context, b, elements, true, options.checkRaces(), grid.sink);
    }
    Index3 block = grid.blocks.index(number);
    int threads = (int) grid.threads.count();
    Warp[] warps = new Warp[(threads + WARP - 1) / WARP];
    for (int w = 0; w < warps.length; w++) {
      Frame[] lanes = new Frame[Math.min(WARP, threads - w * WARP)];
      for (int lane = 0; lane < lanes.length; lane++) {
        Frame f = new Frame(symbols);
        System.arraycopy(memory, 0, f.memory, 0, memory.length);
        System.arraycopy(outer, 0, f.outer, 0, outer.length);
        System.arraycopy(shadows, 0, f.shadows, 0, shadows.length);
        Index3 thread = grid.threads.index(w * WARP + lane);
        f.thread = new ThreadId(block, thread);
        grid.arguments.setScalars(f, symbols);
        for (ThreadBinding b : kernel.bindings()) {
          int dimension = b.axis().dimension();
          f.ints[symbols.slot(b.var())] = (b.axis().isBlock() ? block : thread).get(dimension);
        }
        lanes[lane] = f;
      }
      warps[w] = new Warp(w, lanes);
      Warp warp = warps[w];
      warp.push(
          first -> {
            first.pop();
            body.enter(first, first.fullMask());
          });
    }
    return new BlockRun(context, number, warps);
  }
}
