package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.FloatMode;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.block.BlockRun;
import dev.warpwright.sim.block.ClusterRun;
import dev.warpwright.sim.block.Grid;
import dev.warpwright.sim.block.MBarrier;
import dev.warpwright.sim.block.RegisterPool;
import dev.warpwright.sim.block.Warp;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.counter.Counting;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.Index3;
import dev.warpwright.sim.expr.Symbols;
import dev.warpwright.sim.expr.ThreadId;
import dev.warpwright.sim.finding.FindingSink;
import dev.warpwright.sim.finding.RaceCollector;
import dev.warpwright.sim.finding.Source;
import dev.warpwright.sim.finding.Suspicion;
import dev.warpwright.sim.grid.GridCompiler;
import dev.warpwright.sim.grid.ResourceLimits;
import dev.warpwright.sim.lane.WarpCodeBuilder;
import dev.warpwright.sim.memory.Agents;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.Shadow;
import dev.warpwright.sim.memory.Snapshot;
import dev.warpwright.sim.region.CompiledRegions;
import dev.warpwright.target.KernelResources;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Executes a grid kernel: warps of 32 lanes in lockstep, with masks where they diverge; warps take
 * turns where they wait. Results are bit-exact but for the sums of tensor cores. Always checked:
 * bounds, alignment of vectors and tiles, reads of shared and local memory that was never written,
 * whole warps at warp-wide intrinsics, barriers of all kinds, blocks that may end before others are
 * done with their shared memory, deadlock. Copies and products that work beside the threads happen
 * as late as allowed. Races are conflicting accesses of different warps, or of a warp and a copy or
 * product, of which neither is known to be over before the other.
 *
 * <p>The blocks of a cluster are in residence together. A kernel whose blocks wait for each other
 * needs as many resident blocks ({@link GridOptions#withBlocks}) as it expects of the GPU.
 *
 * <p>The kernel is compiled once; {@link #run} may be called any number of times, by one thread at
 * a time. Bytecode only suspects: where anything may be wrong, closures execute the launch again
 * and say what it is.
 */
public final class GridInterpreter {
  private static final int WARP = 32;
  private static final int MAX_THREADS = 1024;

  private final Kernel kernel;
  private final GridOptions options;
  private final Context context;
  private final @Nullable CompiledRegions regions;
  private final @Nullable Body compiled;
  private @Nullable Body closures;
  private int replays;
  private final Set<Buffer> written = Collections.newSetFromMap(new IdentityHashMap<>());

  /** What the launches before may still write, if the kernel begins before they have ended. */
  private final Set<Buffer> dependent = Collections.newSetFromMap(new IdentityHashMap<>());

  /**
   * A kernel's body, compiled.
   *
   * @param code its straight parts, null if they are closures
   */
  private record Body(WarpNode node, List<Buffer> shared, @Nullable WarpCodeBuilder code) {}

  /** Suspects at the first race. */
  private static final FindingSink SUSPECTING =
      new FindingSink() {
        @Override
        public boolean wants(Stmt where) {
          throw Suspicion.raise();
        }

        @Override
        public void report(SimulationError error) {
          throw error;
        }
      };

  /**
   * Compiles a kernel.
   *
   * @param kernel for a grid
   * @param options how it is executed, and what is checked
   * @throws IllegalArgumentException for a host kernel, or one with statements that no kernel has
   */
  public GridInterpreter(Kernel kernel, GridOptions options) {
    this(kernel, options, true);
  }

  /**
   * Compiles a kernel.
   *
   * @param threads whether a kernel of plain threads may be executed thread by thread
   */
  GridInterpreter(Kernel kernel, GridOptions options, boolean threads) {
    if (kernel.kind() != Kernel.Kind.GRID) {
      throw new IllegalArgumentException(kernel.name() + " is a host kernel");
    }
    this.kernel = kernel;
    this.options = options;
    this.context =
        new Context(Source.of(kernel), FloatMode.EXACT, new Symbols(), true, true, options.count());
    kernel.bindings().forEach(b -> context.symbols().slot(b.var()));
    findWritten();
    if (LaunchOrder.overlaps(kernel)) {
      Set<String> constants = LaunchOrder.constants(kernel.attrs());
      kernel.buffers().stream().filter(b -> !constants.contains(b.name())).forEach(dependent::add);
    }
    boolean fast = options.engine() == GridOptions.Engine.FASTEST;
    this.regions = fast && threads && !options.count() ? CompiledRegions.of(kernel, written) : null;
    this.compiled = fast && regions == null ? compiled() : null;
    if (compiled == null) {
      closures();
    }
  }

  /** The body with bytecode, null if that would be too large. */
  private @Nullable Body compiled() {
    GridCompiler compiler = new GridCompiler(context, kernel.body());
    WarpNode node = compiler.compile(kernel.body());
    WarpCodeBuilder code = compiler.code();
    return code != null && code.define()
        ? new Body(node, List.copyOf(compiler.shared()), code)
        : null;
  }

  private Body closures() {
    Body body = closures;
    if (body == null) {
      GridCompiler compiler = new GridCompiler(context);
      WarpNode node = compiler.compile(kernel.body());
      body = new Body(node, List.copyOf(compiler.shared()), null);
      closures = body;
    }
    return body;
  }

  /** How often bytecode for warps suspected something, so that closures executed a launch again. */
  int replays() {
    return replays;
  }

  /**
   * {@return statements and expressions that become no bytecode, as text; the whole body if it is
   * left to the interpreter} Units beside the threads and calls of a whole warp do not count: they
   * are calls of the simulator whatever executes the rest.
   */
  public List<String> interpreted() {
    return regions != null
        ? List.of()
        : compiled != null && compiled.code != null
            ? compiled.code.interpreted()
            : List.of(kernel.name());
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
        || (HopperIntrinsics.isTmaStore(intrinsic) && operand == 0);
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
   * @param arguments for the kernel's parameters
   * @throws SimulationError at the first finding
   */
  public void run(Arguments arguments) {
    execute(arguments, FindingSink.THROWING);
  }

  /**
   * Runs and looks for all that is wrong: one race for each statement; a finding other than a race
   * ends the execution.
   *
   * @param arguments for the kernel's parameters, whose arrays are read and written
   * @return everything found; empty if nothing is wrong
   */
  public List<Finding> check(Arguments arguments) {
    return RaceCollector.collect(races -> execute(arguments, races));
  }

  /**
   * Runs and counts what the warps ask of the memories; the options must say so.
   *
   * @param arguments for the kernel's parameters, whose arrays are read and written
   * @param caches behind which the device's memory lies
   * @return what was asked for
   * @throws SimulationError at the first finding
   */
  public KernelCounters count(Arguments arguments, KernelCounters.Caches caches) {
    if (!options.count()) {
      throw new IllegalArgumentException("these options do not count");
    }
    Counting[] counting = {null};
    execute(
        arguments, FindingSink.THROWING, () -> counting[0] = new Counting(caches, sharedBases()));
    return Objects.requireNonNull(counting[0]).result(context.source());
  }

  /** Where shared buffers begin, in bytes, by slot. */
  private Map<Integer, Integer> sharedBases() {
    Map<Integer, Integer> bases = new HashMap<>();
    KernelResources.of(kernel)
        .offsets()
        .forEach((buffer, offset) -> bases.put(context.symbols().slot(buffer), offset));
    return bases;
  }

  /** Runs; races go to the sink. */
  void execute(Arguments arguments, FindingSink sink) {
    execute(arguments, sink, null);
  }

  private void execute(
      Arguments arguments, FindingSink sink, @Nullable Supplier<Counting> counting) {
    long[] blocks = new long[3];
    long[] threads = new long[3];
    for (ThreadAxis axis : ThreadAxis.values()) {
      long extent = arguments.evaluate(kernel.extent(axis)).longValue();
      if (extent < 0) {
        throw new IllegalArgumentException(
            kernel.name() + " has " + extent + " for " + axis.text() + ", 0 or more is possible");
      }
      (axis.isBlock() ? blocks : threads)[axis.dimension()] = extent;
    }
    Index3 blockExtents = Index3.of(blocks);
    Index3 threadExtents = Index3.of(threads);
    long perBlock = threadExtents.count();
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
        ResourceLimits.exceeded(context.source(), kernel, options.target(), blockExtents, perBlock);
    if (!exceeded.isEmpty()) {
      throw new SimulationError(exceeded);
    }
    List<Buffer> used = kernel.buffers().stream().filter(b -> context.symbols().knows(b)).toList();
    used.forEach(b -> arguments.check(b, FloatMode.EXACT));
    Function<Buffer, byte[]> arrays = b -> arguments.get(b).bytes();
    if (regions != null && regions.run(arrays, arguments::scalar, blockExtents)) {
      return;
    }
    Snapshot before = compiled == null ? null : Snapshot.of(used, written, arrays);
    if (compiled != null && before != null) {
      try {
        run(compiled, arguments, new Grid(SUSPECTING, blockExtents, threadExtents), counting);
        return;
      } catch (Suspicion | SimulationError e) {
        replays++;
        before.restore();
      }
    }
    run(closures(), arguments, new Grid(sink, blockExtents, threadExtents), counting);
  }

  private void run(
      Body body, Arguments arguments, Grid grid, @Nullable Supplier<Counting> counting) {
    grid.open(context.symbols());
    grid.counting = counting == null ? null : counting.get();
    for (Param p : kernel.params()) {
      if (p instanceof Buffer b && context.symbols().knows(b)) {
        bind(grid, b, arguments.get(b));
      }
    }
    int size = (int) clusterSize(grid);
    boolean counts = usesCounters();
    boolean overlaps = LaunchOrder.overlaps(kernel);
    Agents common = overlaps ? Agents.behindPrevious() : new Agents(true);
    new Scheduler(context, options, grid.loads, grid.turns, kernel.body())
        .run(
            Math.toIntExact(grid.blocks.count() / size),
            isCooperative()
                ? Math.toIntExact(grid.blocks.count() / size)
                : Math.max(1, options.residentBlocks() / size),
            (number, place) ->
                start(
                    arguments,
                    grid,
                    body,
                    counts || overlaps ? common : new Agents(false),
                    number,
                    place,
                    size));
  }

  /** Whether all blocks run at once or none. */
  private boolean isCooperative() {
    return kernel.attrs().getLong("cooperative", 0) == 1;
  }

  private void bind(Grid grid, Buffer b, NdArray array) {
    int slot = context.symbols().slot(b);
    grid.memory[slot] = array.bytes();
    grid.outer[slot] = array.rank() == 0 ? 1 : array.shape()[0];
    grid.shapes[slot] = array.shape();
    boolean depends = dependent.contains(b);
    if (options.checkRaces() && (depends || written.contains(b))) {
      int elements = array.bytes().length / b.dtype().bytes();
      Shadow shadow = context.shadow(b, elements, false, true, grid.sink);
      if (depends) {
        shadow.dependsOnPrevious();
      }
      grid.shadows[slot] = shadow;
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
  private ClusterRun start(
      Arguments arguments, Grid grid, Body body, Agents agents, long number, int place, int size) {
    ClusterRun cluster = new ClusterRun(context, number, place, agents, grid);
    for (int rank = 0; rank < size; rank++) {
      Index3 index = grid.blocks.index(number * size + rank);
      BlockRun block = new BlockRun(context, cluster, rank, index, context.symbols().bufferSlots());
      cluster.blocks.add(block);
      start(arguments, grid, body, block, index);
    }
    return cluster;
  }

  private void start(Arguments arguments, Grid grid, Body body, BlockRun block, Index3 index) {
    Symbols symbols = context.symbols();
    byte[][] memory = grid.memory.clone();
    long[] outer = grid.outer.clone();
    Shadow[] shadows = grid.shadows.clone();
    for (Buffer b : body.shared) {
      int slot = symbols.slot(b);
      int elements = Math.toIntExact(b.storageElements());
      memory[slot] = new byte[elements * b.dtype().bytes()];
      Bytes.poison(b.dtype(), memory[slot]);
      outer[slot] = b.rank() == 0 ? 1 : b.extent(0);
      shadows[slot] = context.shadow(b, elements, true, options.checkRaces(), grid.sink);
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
        arguments.setScalars(f, symbols);
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
            body.node.enter(first, first.fullMask());
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
