package dev.warpwright.families.gemv;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.ThreadLoops;
import dev.warpwright.families.simt.SimtLimits;
import dev.warpwright.families.wgmma.HopperLimits;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Products of few rows by multiply-adds of single threads, in f32 and f64, for any GPU: B is read
 * once, from memory to registers, in whole lines, by lanes that are neighbours along K; what they
 * summed meets in shared memory when K ends. A's rows are so few that caches hold them.
 */
public final class StreamedGemm {
  /**
   * Rows that a thread has sums of. With 16 their elements no longer stay in L1 and in registers,
   * and tiles in shared memory are faster.
   */
  public static final int MOST_ROWS = 8;

  private static final int WIDEST = 16;

  /** Registers beside sums and operands: addresses and counters. */
  private static final int OTHER_REGISTERS = 40;

  private static final int MAX_UNROLLED = 2048;

  private StreamedGemm() {}

  /** One line that says why products of this kind are not streamed; null if they are. */
  public static @Nullable String operandsProblem(GemmWorkload workload) {
    String threads = SimtLimits.operandsProblem(workload);
    if (threads != null) {
      return threads;
    }
    if (workload.layout() != GemmWorkload.Layout.NT) {
      return "rows are streamed K-major, and the matrices lie otherwise";
    }
    return workload.m() <= MOST_ROWS
        ? null
        : String.format(Locale.ROOT, "%d rows; streamed are %d at most", workload.m(), MOST_ROWS);
  }

  /** One line that says why a configuration is impossible; null if nothing is known against it. */
  public static @Nullable String problem(
      GemmWorkload workload, StreamedConfig c, GpuTarget target) {
    String operands = operandsProblem(workload);
    if (operands != null) {
      return operands;
    }
    int bytes = workload.operands().bytes();
    if (c.lanesK() < 1 || 32 % c.lanesK() != 0) {
      return String.format(Locale.ROOT, "a warp has no %d lanes for K", c.lanesK());
    }
    if (c.columns() < 1 || c.reads() < 1 || c.warpsK() < 1 || c.warpsN() < 1) {
      return String.format(
          Locale.ROOT,
          "%d columns, %d reads, %d x %d warps: 1 at least",
          c.columns(),
          c.reads(),
          c.warpsK(),
          c.warpsN());
    }
    if (c.threads() > 1024 || c.minBlocks() < 1) {
      return String.format(Locale.ROOT, "%d blocks of %d threads", c.minBlocks(), c.threads());
    }
    int each = GpuTarget.registersOfThread(c.threads() * c.minBlocks());
    int registers = registers(workload, c, bytes);
    if (c.threads() * c.minBlocks() > target.threadsPerSm() || registers > each) {
      return String.format(
          Locale.ROOT,
          "about %d registers of each of %d threads in %d blocks, there are %d",
          registers,
          c.threads(),
          c.minBlocks(),
          each);
    }
    int run = WIDEST / bytes;
    if (workload.m() * c.columns() * c.reads() * run > MAX_UNROLLED) {
      return String.format(
          Locale.ROOT,
          "%d rows, %d columns and %d reads are too much to be written out",
          workload.m(),
          c.columns(),
          c.reads());
    }
    return HopperLimits.sharedProblem(sharedBytes(workload, c), c.minBlocks(), target);
  }

  /** What a thread holds: sums, and what it read of its columns and, all at once, of the rows. */
  private static int registers(GemmWorkload workload, StreamedConfig c, int bytes) {
    int rows = Math.toIntExact(workload.m());
    int vectors = c.columns() * c.reads() + rows;
    return (rows * c.columns() + vectors * (WIDEST / bytes)) * bytes / 4 + OTHER_REGISTERS;
  }

  /** Bytes of shared memory of a block: the sums of each slice, an odd number apart. */
  public static long sharedBytes(GemmWorkload workload, StreamedConfig c) {
    return c.slices() * (workload.m() * c.tileN() | 1) * workload.operands().bytes();
  }

  /**
   * Schedules and lowers.
   *
   * @throws UserError if the configuration does not fit the workload or the target
   */
  public static ScheduledGemm schedule(
      GemmWorkload workload, StreamedConfig config, GpuTarget target) {
    String problem = problem(workload, config, target);
    if (problem != null) {
      throw new UserError(problem);
    }
    PrimFunc func = workload.func();
    Schedule s = new Schedule(func);
    build(s, workload, config);
    workload.description().forEach(s::annotate);
    return new ScheduledGemm(func, s.trace(), s.func(), SimtLowering.lower(s.func()), List.of());
  }

  private static void build(Schedule s, GemmWorkload workload, StreamedConfig c) {
    int run = WIDEST / workload.operands().bytes();
    long rows = workload.m();
    BlockRef sums = s.block("acc");
    BlockRef result = s.block("C");
    BlockRef a = s.cacheRead(s.buffer("A"), Scope.LOCAL, sums);
    BlockRef b = s.cacheRead(s.buffer("B"), Scope.LOCAL, sums);
    long step = (long) c.reads() * c.slices() * run;
    s.pad(sums, rows, (long) c.tileN(), step);
    // Steps; reads of a step; who reads; what is read at once.
    Schedule.Halves k = s.split(s.loops(sums).getLast(), step);
    Schedule.Halves read = s.split(k.inner(), (long) c.slices() * run);
    Schedule.Halves slice = s.split(read.inner(), run);
    BlockRef parts = s.rfactor(sums, slice.outer(), 0);
    BlockRef copy = s.cacheWrite(parts, Scope.LOCAL).copy();
    s.setScope(s.buffer(parts.name()), Scope.SHARED);
    List<LoopRef> tile = s.loops(sums);
    Schedule.Halves n = s.split(tile.get(1), c.tileN());
    s.reorder(n.outer(), tile.getFirst(), n.inner());
    s.setScope(s.buffer("acc"), Scope.LOCAL);
    s.computeAt(copy, n.outer());
    List<LoopRef> stored = s.loops(copy);
    s.unroll(share(s, c, stored.get(1), stored.get(2), stored.get(3)));
    s.unroll(stored.get(2));
    s.computeAt(parts, n.outer());
    List<LoopRef> loops = s.loops(parts);
    LoopRef ownSlice = loops.get(1);
    LoopRef row = loops.get(2);
    LoopRef column = loops.get(3);
    LoopRef steps = loops.get(4);
    LoopRef reads = loops.get(5);
    LoopRef lane = loops.get(6);
    s.reorder(ownSlice, column, steps, reads, row, lane);
    LoopRef own = share(s, c, ownSlice, row, column);
    s.reorder(steps, reads, row, own, lane);
    s.computeAt(b, steps);
    s.computeAt(a, row);
    s.reverseComputeAt(result, n.inner());
    s.bind(n.outer(), ThreadAxis.BLOCK_X);
    s.compactAll();
    // Any thread adds the parts of any element.
    LoopRef elements = ThreadLoops.fuse(s, List.of(tile.getFirst(), n.inner()));
    Schedule.Halves rounds = s.split(elements, c.threads());
    s.reorder(rounds.inner(), rounds.outer());
    s.bind(rounds.inner(), ThreadAxis.THREAD_X);
    s.unroll(rounds.outer());
    for (BlockRef fragment : List.of(a, b)) {
      List<LoopRef> held = s.loops(fragment);
      LoopRef around = fragment == a ? row : steps;
      held.subList(held.indexOf(around) + 1, held.size() - 1).forEach(s::unroll);
      s.vectorize(held.getLast());
    }
    for (LoopRef loop : List.of(reads, row, own, lane)) {
      s.unroll(loop);
    }
    s.storageAlign(s.buffer(parts.name()), 0, 2L, 1L);
    s.decomposeReduction(parts, steps);
    s.decomposeReduction(sums, s.loops(sums).getLast());
    s.annotate("minBlocks", (long) c.minBlocks());
  }

  /** Gives each thread its slice of K and its columns: the loop over the latter. */
  private static LoopRef share(
      Schedule s, StreamedConfig c, LoopRef slice, LoopRef row, LoopRef column) {
    Schedule.Halves lanes = s.split(slice, c.lanesK());
    Schedule.Halves own = s.split(column, c.columns());
    Schedule.Halves groups = s.split(own.outer(), c.groups());
    List<LoopRef> threads = List.of(groups.outer(), lanes.outer(), groups.inner(), lanes.inner());
    s.reorder(groups.outer(), lanes.outer(), groups.inner(), lanes.inner(), row, own.inner());
    s.bind(ThreadLoops.fuse(s, threads), ThreadAxis.THREAD_X);
    return own.inner();
  }
}
