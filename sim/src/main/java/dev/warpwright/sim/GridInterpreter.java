package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Walk;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Executes a grid kernel: warps of 32 lanes in lockstep, with masks where they diverge; warps take
 * turns where they wait. Results are bit-exact but for the sums of tensor cores. Always checked:
 * bounds, alignment of vectors and tiles, reads of shared and local memory that was never written,
 * whole warps at warp-wide intrinsics, barriers of all kinds, deadlock. Copies and products that
 * work beside the threads happen as late as allowed. Races are conflicting accesses of different
 * warps, or of a warp and a copy or product, of which neither is known to be over before the other.
 *
 * <p>The blocks of a cluster are in residence together. A kernel whose blocks wait for each other
 * needs as many resident blocks ({@link GridOptions#withBlocks}) as it expects of the GPU.
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
  private final @Nullable CompiledRegions regions;
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
    this.context =
        new Context(Source.of(kernel), Precision.EXACT, new Symbols(), true, true, options.count());
    GridCompiler compiler = new GridCompiler(context);
    this.body = compiler.compile(kernel.body());
    this.shared = List.copyOf(compiler.shared());
    kernel.bindings().forEach(b -> context.symbols().slot(b.var()));
    findWritten();
    this.regions =
        options.engine() == GridOptions.Engine.INTERPRETER || options.count()
            ? null
            : CompiledRegions.of(kernel, written);
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
              if (args.get(i) instanceof Expr.AddressOf address && writes(intrinsic, i)) {
                written.add(address.buffer());
              }
            }
          }
        });
  }

  private static boolean writes(Intrinsic intrinsic, int operand) {
    Intrinsic.Access access = intrinsic.operands().get(operand).access();
    return access == Intrinsic.Access.WRITE
        || access == Intrinsic.Access.READ_WRITE
        || (HopperIntrinsics.isBulkStore(intrinsic) && operand == 0);
  }

  /** Whether blocks can order their accesses. */
  private boolean usesCounters() {
    boolean[] found = {false};
    Walk.expressions(
        kernel.body(),
        e ->
            found[0] |=
                e instanceof Expr.Call call
                    && call.op() instanceof TargetIntrinsic intrinsic
                    && intrinsic.effect() instanceof TargetIntrinsic.Drives(var unit)
                    && unit == TargetIntrinsic.Unit.COUNTER);
    return found[0];
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

  /**
   * Runs and counts what the warps ask of the memories; the options must say so.
   *
   * @throws SimulationError at the first finding
   */
  public KernelCounters count(Arguments arguments, KernelCounters.Caches caches) {
    if (!options.count()) {
      throw new IllegalArgumentException("these options do not count");
    }
    Counting counting = new Counting(caches);
    execute(arguments, Shadow.THROWING, counting);
    return counting.result(context.source());
  }

  /** Runs; races go to the sink. */
  void execute(Arguments arguments, Shadow.FindingSink sink) {
    execute(arguments, sink, null);
  }

  private void execute(Arguments arguments, Shadow.FindingSink sink, @Nullable Counting counting) {
    long[] blocks = new long[3];
    long[] threads = new long[3];
    for (ThreadAxis axis : ThreadAxis.values()) {
      long extent = arguments.evaluate(kernel.extent(axis)).longValue();
      (axis.isBlock() ? blocks : threads)[axis.dimension()] = extent;
    }
    Grid grid = new Grid(arguments, sink, Index3.of(blocks), Index3.of(threads), context.symbols());
    grid.counting = counting;
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
    List<Finding> exceeded =
        ResourceLimits.exceeded(context.source(), kernel, options.target(), grid.blocks, perBlock);
    if (!exceeded.isEmpty()) {
      throw new SimulationError(exceeded);
    }
    for (Param p : kernel.params()) {
      if (p instanceof Buffer b && context.symbols().knows(b)) {
        bind(grid, b);
      }
    }
    if (regions != null && regions.run(grid)) {
      return;
    }
    int size = (int) clusterSize(grid);
    boolean counts = usesCounters();
    Agents common = new Agents(true);
    new Scheduler(context, options, grid.loads, grid.turns, kernel.body())
        .run(
            Math.toIntExact(grid.blocks.count() / size),
            Math.max(1, options.residentBlocks() / size),
            (number, place) ->
                start(grid, counts ? common : new Agents(false), number, place, size));
  }

  private void bind(Grid grid, Buffer b) {
    grid.arguments.check(b, Precision.EXACT);
    NdArray array = grid.arguments.get(b);
    int slot = context.symbols().slot(b);
    grid.memory[slot] = array.bytes();
    grid.outer[slot] = array.rank() == 0 ? 1 : array.shape()[0];
    grid.shapes[slot] = array.shape();
    if (options.checkRaces() && written.contains(b)) {
      int elements = array.bytes().length / b.dtype().bytes();
      grid.shadows[slot] = new Shadow(context, b, elements, false, true, grid.sink);
    }
  }

  private long clusterSize(Grid grid) {
    long size = kernel.attrs().getLong("cluster", 1);
    if (size < 1 || grid.blocks.x() % size != 0) {
      throw new IllegalArgumentException(
          kernel.name()
              + " has clusters of "
              + size
              + " blocks, but "
              + grid.blocks.x()
              + " blocks");
    }
    return size;
  }

  /** Starts the blocks of a cluster. */
  private ClusterRun start(Grid grid, Agents agents, long number, int place, int size) {
    ClusterRun cluster = new ClusterRun(context, number, place, agents, grid);
    for (int rank = 0; rank < size; rank++) {
      Index3 index = grid.blocks.index(number * size + rank);
      BlockRun block = new BlockRun(context, cluster, rank, index, context.symbols().bufferSlots());
      cluster.blocks.add(block);
      start(grid, block, index);
    }
    return cluster;
  }

  private void start(Grid grid, BlockRun block, Index3 index) {
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
      block.memory[slot] = memory[slot];
      block.shadows[slot] = shadows[slot];
      if (b.dtype() == DType.MBARRIER) {
        block.barriers[slot] = barriers(block, b, elements);
      }
    }
    int threads = (int) grid.threads.count();
    Warp[] warps = new Warp[(threads + WARP - 1) / WARP];
    for (int w = 0; w < warps.length; w++) {
      Frame[] lanes = new Frame[Math.min(WARP, threads - w * WARP)];
      for (int lane = 0; lane < lanes.length; lane++) {
        Frame f = new Frame(symbols);
        System.arraycopy(memory, 0, f.memory, 0, memory.length);
        System.arraycopy(outer, 0, f.outer, 0, outer.length);
        System.arraycopy(grid.shapes, 0, f.shapes, 0, grid.shapes.length);
        System.arraycopy(shadows, 0, f.shadows, 0, shadows.length);
        Index3 thread = grid.threads.index(w * WARP + lane);
        f.thread = new ThreadId(index, thread);
        grid.arguments.setScalars(f, symbols);
        for (ThreadBinding b : kernel.bindings()) {
          int dimension = b.axis().dimension();
          f.ints[symbols.slot(b.var())] = (b.axis().isBlock() ? index : thread).get(dimension);
        }
        lanes[lane] = f;
      }
      Warp warp = new Warp(block, w, lanes);
      warps[w] = warp;
      warp.push(
          first -> {
            first.pop();
            body.enter(first, first.fullMask());
          });
    }
    int minBlocks = (int) kernel.attrs().getLong("minBlocks", 0);
    block.populate(
        warps, minBlocks == 0 ? null : new RegisterPool(threads, minBlocks, warps.length));
  }

  private MBarrier[] barriers(BlockRun block, Buffer b, int elements) {
    MBarrier[] barriers = new MBarrier[elements];
    for (int i = 0; i < elements; i++) {
      barriers[i] = new MBarrier(context, block, b.name() + "[" + i + "]");
    }
    return barriers;
  }
}
