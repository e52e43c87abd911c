package dev.warpwright.families.simt;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.StagedGemm;
import dev.warpwright.families.ThreadLoops;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.lower.simt.Serpentine;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Products of single threads, by multiply-adds, in f32 and f64, for any GPU, size, layout and
 * alignment: tiles in shared memory, stored so that a thread's rows and columns are neighbours,
 * parts for warps and their lanes, operands read ahead to registers.
 */
public final class SimtGemm {
  /** Bytes of the widest access of a thread. */
  static final int WIDEST = 16;

  private SimtGemm() {}

  /**
   * Schedules and lowers.
   *
   * @throws UserError if the configuration does not fit the workload or the target
   */
  public static ScheduledGemm schedule(GemmWorkload workload, SimtConfig config, GpuTarget target) {
    String problem = SimtLimits.problem(workload, config, target);
    if (problem != null) {
      throw new UserError(problem);
    }
    PrimFunc func = workload.func();
    Schedule s = new Schedule(func);
    build(
        s,
        StagedGemm.Names.GEMM,
        workload,
        config,
        true,
        (rows, columns) -> inPanels(s, rows, columns, config.panel()));
    s.annotate("minBlocks", (long) config.minBlocks());
    workload.description().forEach(s::annotate);
    return new ScheduledGemm(func, s.trace(), s.func(), SimtLowering.lower(s.func()), List.of());
  }

  /**
   * A block for each tile: panels of rows one after another, in each columns from top to bottom.
   */
  private static void inPanels(Schedule s, LoopRef rows, LoopRef columns, long panel) {
    LoopRef across = columns;
    LoopRef down = rows;
    if (panel > 1) {
      Schedule.Halves halves = s.split(rows, panel);
      s.reorder(halves.outer(), columns, halves.inner());
      across = s.fuse(columns, halves.inner());
      down = halves.outer();
    }
    s.bind(across, ThreadAxis.BLOCK_X);
    s.bind(down, ThreadAxis.BLOCK_Y);
  }

  /**
   * Tiles one product of a function: the loop over its tiles.
   *
   * @throws UserError if tiles are shared, or in panels
   */
  public static LoopRef tiles(
      Schedule s, StagedGemm.Names names, GemmWorkload workload, SimtConfig config) {
    if (config.parts() > 1 || config.panel() > 1) {
      throw new UserError("tiles of several GEMMs are whole, and in an order of their own");
    }
    List<LoopRef> tiles = new ArrayList<>();
    build(
        s,
        names,
        workload,
        config,
        false,
        (rows, columns) -> tiles.add(s.blockOrder(rows, columns, new BlockOrder.Row())));
    s.annotate("minBlocks", (long) config.minBlocks());
    return tiles.getFirst();
  }

  /**
   * Tiles a product.
   *
   * @param alone whether nothing else has to see which rows it reads
   * @param share is given the loops over rows and columns of tiles
   */
  private static void build(
      Schedule s,
      StagedGemm.Names names,
      GemmWorkload workload,
      SimtConfig c,
      boolean alone,
      BiConsumer<LoopRef, LoopRef> share) {
    int run = WIDEST / workload.operands().bytes();
    boolean turnA = SimtLimits.turnsA(workload, c);
    boolean turnB = SimtLimits.turnsB(workload, c);
    String tileA = names.a() + "_shared";
    String tileB = names.b() + "_shared";
    BlockRef sums = s.block(names.sums());
    BlockRef result = s.block(names.result());
    BlockRef a = s.cacheRead(s.buffer(names.a()), Scope.SHARED, sums);
    BlockRef b = s.cacheRead(s.buffer(names.b()), Scope.SHARED, sums);
    List<Long> whole = List.of((long) c.tileM(), (long) c.tileN(), (long) c.tileK() * c.parts());
    if (alone) {
      s.padRepeating(sums, whole);
    } else {
      s.pad(sums, whole);
    }
    // In shared memory both tiles are stored with K outermost, or both with K innermost.
    if (turnA) {
      s.transformLayout(s.buffer(tileA), 1, 0);
    }
    if (turnB) {
      s.transformLayout(s.buffer(tileB), 1, 0);
    }
    Lanes lanes = c.alongK() ? new Lanes(c, 1, 1) : new Lanes(c, run);
    BlockRef product = sums;
    if (c.parts() > 1) {
      product = parts(s, sums, s.extent(s.loops(sums).getLast()).orElseThrow() / c.parts());
    } else if (c.slices() > 1) {
      product = slices(s, c, sums);
    }
    BlockRef store = c.byRows() ? s.cacheWrite(result, Scope.SHARED).copy() : result;
    List<LoopRef> tile = s.loops(product == sums ? store : sums);
    Schedule.Halves m = s.split(tile.get(0), c.tileM());
    Schedule.Halves n = s.split(tile.get(1), c.tileN());
    s.reorder(m.outer(), n.outer(), m.inner(), n.inner());
    s.setScope(s.buffer(names.sums()), Scope.LOCAL);
    LoopRef part = null;
    if (product == sums) {
      List<LoopRef> elements = List.of(m.inner(), n.inner());
      if (c.byRows()) {
        s.computeAt(result, n.outer());
        List<LoopRef> computed = s.loops(result);
        elements = computed.subList(computed.size() - 2, computed.size());
      }
      s.computeAt(sums, n.outer());
      lanes.vectorize(s, lanes.bind(s, null, elements.get(0), elements.get(1)).getLast());
    } else if (c.parts() > 1) {
      s.reverseComputeAt(result, n.outer());
      List<LoopRef> ends = s.loops(result);
      lanes.vectorize(s, lanes.bind(s, null, ends.get(2), ends.get(3)).getLast());
      addParts(s, lanes, sums);
      BlockRef copy = s.block(product.name() + "_write");
      s.computeAt(copy, n.outer());
      List<LoopRef> stored = s.loops(copy);
      s.computeAt(product, stored.get(2));
      lanes.vectorize(s, lanes.bind(s, null, stored.get(3), stored.get(4)).getLast());
      part = stored.get(2);
    } else {
      // Any thread adds the parts of any element.
      LoopRef elements = ThreadLoops.fuse(s, List.of(m.inner(), n.inner()));
      Schedule.Halves rounds = s.split(elements, c.threads());
      s.reorder(rounds.inner(), rounds.outer());
      s.bind(rounds.inner(), ThreadAxis.THREAD_X);
      s.reverseComputeAt(result, rounds.outer());
      s.unroll(rounds.outer());
      BlockRef copy = s.block(product.name() + "_write");
      s.computeAt(copy, n.outer());
      List<LoopRef> stored = s.loops(copy);
      lanes.vectorize(s, lanes.bind(s, stored.get(2), stored.get(3), stored.get(4)).getLast());
      s.computeAt(product, n.outer());
    }
    Schedule.Halves k = steps(s, c, lanes, product, tileA, tileB, run);
    s.computeAt(a, k.outer());
    s.computeAt(b, k.outer());
    // Before threads share the copies: there may be more of them than there is to copy.
    s.compactAll();
    long alongA = workload.layout().transposedA() ? workload.m() : workload.k();
    long alongB = workload.layout().transposedB() ? workload.k() : workload.n();
    if (c.parts() > 1 && c.alongK()) {
      // In rows of the tile each thread would store four bytes of a sector: its columns lie apart.
      s.setLayout(s.buffer(product.name()), lanes.inOrderOfThreads());
    }
    fetch(s, a, c, run, Math.toIntExact(Long.lowestOneBit(alongA | run)), turnA);
    fetch(s, b, c, run, Math.toIntExact(Long.lowestOneBit(alongB | run)), turnB);
    if (c.byRows()) {
      long together = Long.lowestOneBit(workload.resultColumns() | run);
      ThreadLoops.together(s, List.of(m.inner(), n.inner()), c.threads(), together);
      // Vectors of two neighbouring rows are in different banks.
      s.storageAlign(s.buffer(result.name() + "_shared"), 0, 2L * run, run);
    }
    share.accept(m.outer(), n.outer());
    if (part != null) {
      s.bind(part, ThreadAxis.BLOCK_Z);
    }
    // Rows of a tile that was turned, or is read by neighbours down its rows, begin at different
    // banks.
    if (turnA || c.alongK()) {
      s.storageAlign(s.buffer(tileA), 0, 2L * run, run);
    }
    if (turnB || c.alongK()) {
      s.storageAlign(s.buffer(tileB), 0, 2L * run, run);
    }
    s.decomposeReduction(product, k.outer());
    s.pipeline(k.outer(), c.stages());
    // A part that is shorter than the others ends with steps that add zeros.
    s.annotate(k.outer(), "zeros", 1L);
    if (c.stages() > 2) {
      s.annotate(k.outer(), "async", 1L);
    }
    if (c.ahead()) {
      s.pipeline(k.inner(), 2);
    } else {
      s.unroll(k.inner());
    }
  }

  /**
   * Lets blocks sum parts of the depth, in registers, which meet in global memory: the block of the
   * parts' sums.
   */
  private static BlockRef parts(Schedule s, BlockRef sums, long depth) {
    Schedule.Halves part = s.split(s.loops(sums).getLast(), depth);
    BlockRef parts = s.rfactor(sums, part.outer(), 0);
    s.cacheWrite(parts, Scope.LOCAL);
    return parts;
  }

  /** Each thread adds the parts of the elements whose results it stores, one part after another. */
  private static void addParts(Schedule s, Lanes lanes, BlockRef sums) {
    List<LoopRef> loops = s.loops(sums);
    LoopRef part = loops.getLast();
    s.reorder(part, loops.get(2), loops.get(3));
    lanes.vectorize(s, lanes.bind(s, null, loops.get(2), loops.get(3)).getLast());
    s.decomposeReduction(sums, part);
  }

  /**
   * Lets groups of warps sum parts of each step, in registers, which meet in shared memory: the
   * block of the parts' sums.
   */
  private static BlockRef slices(Schedule s, SimtConfig c, BlockRef sums) {
    Schedule.Halves step = s.split(s.loops(sums).getLast(), c.tileK());
    Schedule.Halves slice = s.split(step.inner(), c.tileK() / c.slices());
    BlockRef parts = s.rfactor(sums, slice.outer(), 0);
    s.cacheWrite(parts, Scope.LOCAL);
    s.setScope(s.buffer(parts.name()), Scope.SHARED);
    return parts;
  }

  /** The products of a tile: the loops over steps along K, and inside a step. */
  private static Schedule.Halves steps(
      Schedule s,
      SimtConfig c,
      Lanes lanes,
      BlockRef product,
      String tileA,
      String tileB,
      int run) {
    BlockRef column = s.cacheRead(s.buffer(tileA), Scope.LOCAL, product);
    BlockRef row = s.cacheRead(s.buffer(tileB), Scope.LOCAL, product);
    List<LoopRef> loops = s.loops(product);
    boolean sliced = c.slices() > 1;
    LoopRef slice = sliced ? loops.get(2) : null;
    // Beside the loops over tiles there is the one over slices, or over parts and one of a part.
    int first = sliced ? 3 : c.parts() > 1 ? 4 : 2;
    LoopRef rows = loops.get(first);
    LoopRef columns = loops.get(first + 1);
    Schedule.Halves k =
        sliced
            ? new Schedule.Halves(loops.get(5), loops.get(6))
            : s.split(loops.get(first + 2), c.tileK());
    List<LoopRef> order = new ArrayList<>(List.of(k.outer(), rows, columns, k.inner()));
    if (slice != null) {
      order.add(1, slice);
    }
    s.reorder(order);
    List<LoopRef> own = lanes.bind(s, slice, rows, columns);
    List<LoopRef> inside = new ArrayList<>(own);
    LoopRef reads = k.inner();
    if (c.alongK()) {
      // Elements of K that come in one read, one after the other for all sums.
      Schedule.Halves several = s.split(k.inner(), run);
      reads = several.outer();
      inside.addFirst(several.inner());
    }
    inside.addFirst(reads);
    s.reorder(inside);
    if (c.alongK()) {
      s.unroll(inside.get(1));
    }
    s.unroll(own.getLast());
    if (c.serpentine()) {
      s.annotate(own.get(1), Serpentine.ATTRIBUTE, 1L);
    }
    for (BlockRef fragment : List.of(column, row)) {
      s.computeAt(fragment, reads);
      if (c.alongK()) {
        List<LoopRef> held = s.loops(fragment);
        held.subList(held.indexOf(reads) + 1, held.size() - 1).forEach(s::unroll);
        s.vectorize(held.getLast());
      } else {
        ThreadLoops.vectors(s, fragment, fragment == column ? lanes.runM() : lanes.runN());
      }
    }
    return new Schedule.Halves(k.outer(), reads);
  }

  /**
   * All threads copy a tile, neighbours along the rows of the matrix in memory. Where it is turned
   * on its way, neighbours are in a sector of a row, and then in other rows: so their stores meet
   * different banks.
   *
   * @param run elements of half a sector, the widest access
   * @param lanes elements that one access may take, as rows begin
   */
  private static void fetch(
      Schedule s, BlockRef copy, SimtConfig c, int run, int lanes, boolean turned) {
    List<LoopRef> loops = s.loops(copy);
    List<LoopRef> tile = loops.subList(loops.size() - 2, loops.size());
    if (!turned) {
      ThreadLoops.together(s, tile, c.threads(), lanes);
      return;
    }
    long sector = Long.lowestOneBit(s.extent(tile.get(0)).orElseThrow() | 2L * run);
    Schedule.Halves along = s.split(tile.get(0), sector);
    // Asynchronous copies of what is turned move single elements.
    ThreadLoops.together(
        s,
        List.of(along.outer(), tile.get(1), along.inner()),
        c.threads(),
        c.stages() > 2 ? 1 : Math.min(lanes, sector));
  }

  /** How a tile's elements are shared by warps, and those of a warp by its lanes. */
  private record Lanes(SimtConfig c, int runM, int runN) {
    Lanes(SimtConfig c, int run) {
      this(c, Math.min(run, c.rows()), Math.min(run, c.columns()));
    }

    /** Where parts, rows and columns of a tile lie if its elements are in the order of threads. */
    Layout inOrderOfThreads() {
      int threads = c.threads();
      boolean pairs = c.lanesM() > 1 && c.lanesN() > 1;
      List<Layout.Mode> rows = new ArrayList<>();
      if (pairs) {
        rows.add(new Layout.Mode(2, 1));
        rows.add(new Layout.Mode(c.lanesM() / 2, 2L * c.lanesN()));
      } else {
        rows.add(new Layout.Mode(c.lanesM(), c.lanesN()));
      }
      rows.add(new Layout.Mode(c.rows(), (long) c.columns() * threads));
      rows.add(new Layout.Mode(c.tileM() / c.warpM(), 32L * c.tileN() / c.warpN()));
      List<Layout.Mode> columns =
          List.of(
              new Layout.Mode(c.lanesN(), pairs ? 2 : 1),
              new Layout.Mode(c.columns(), threads),
              new Layout.Mode(c.tileN() / c.warpN(), 32));
      List<Layout.Mode> parts = List.of(new Layout.Mode(c.parts(), (long) c.tileM() * c.tileN()));
      return new Layout(List.of(parts, rows, columns), Layout.Swizzle.NONE);
    }

    void vectorize(Schedule s, LoopRef loop) {
      if (runN > 1) {
        s.vectorize(loop);
      } else {
        s.unroll(loop);
      }
    }

    /** Gives each thread its elements: loops over groups and their elements, i then j. */
    List<LoopRef> bind(Schedule s, @Nullable LoopRef slice, LoopRef i, LoopRef j) {
      Schedule.Halves warpI = s.split(i, c.warpM());
      Schedule.Halves warpJ = s.split(j, c.warpN());
      Schedule.Halves groupI = s.split(warpI.inner(), (long) c.lanesM() * runM);
      Schedule.Halves groupJ = s.split(warpJ.inner(), (long) c.lanesN() * runN);
      Schedule.Halves laneI = s.split(groupI.inner(), runM);
      Schedule.Halves laneJ = s.split(groupJ.inner(), runN);
      List<LoopRef> threads = new ArrayList<>(List.of(warpI.outer(), warpJ.outer()));
      if (slice != null) {
        threads.addFirst(slice);
      }
      if (c.lanesM() > 1 && c.lanesN() > 1) {
        // Neighbouring lanes are on two rows: then pairs of them read the same columns, others
        // the same rows, and shared memory serves twice as many lanes at once.
        Schedule.Halves pairs = s.split(laneI.outer(), 2);
        threads.addAll(List.of(pairs.outer(), laneJ.outer(), pairs.inner()));
      } else {
        threads.addAll(List.of(laneI.outer(), laneJ.outer()));
      }
      List<LoopRef> own = List.of(groupI.outer(), laneI.inner(), groupJ.outer(), laneJ.inner());
      List<LoopRef> all = new ArrayList<>(threads);
      all.addAll(own);
      s.reorder(all);
      s.bind(ThreadLoops.fuse(s, threads), ThreadAxis.THREAD_X);
      own.subList(0, 3).forEach(s::unroll);
      return own;
    }
  }
}
