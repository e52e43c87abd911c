package dev.warpwright.families;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.UserError;
import dev.warpwright.lower.gpu.GpuLowering;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import java.util.List;

/**
 * Products for Hopper: bulk copies into a ring of stages, warpgroup products, roles, clusters with
 * multicast, persistent blocks, results through shared memory while the next tile begins.
 */
public final class HopperGemm {
  private HopperGemm() {}

  /**
   * Schedules and lowers.
   *
   * @throws UserError if the configuration does not fit the workload or the hardware
   */
  public static ScheduledGemm schedule(GemmWorkload workload, HopperConfig config) {
    String problem = HopperLimits.problem(workload, config);
    if (problem != null) {
      throw new UserError(problem);
    }
    return schedule(workload.func(config.swapped()), workload, config);
  }

  /** The same for another computation of the workload's shape. */
  static ScheduledGemm schedule(PrimFunc func, GemmWorkload workload, HopperConfig config) {
    Schedule schedule = scheduled(func, workload, config);
    PrimFunc tiles = schedule.func();
    return new ScheduledGemm(
        func,
        schedule.trace(),
        tiles,
        GpuLowering.lower(tiles),
        config.blocks() == 0
            ? List.of()
            : ScheduledGemm.table(
                config.order(),
                config.division(),
                workload.batch().count()
                    * Math.ceilDiv(workload.m(), (long) config.tileM() * config.clusterM()),
                Math.ceilDiv(workload.n(), (long) config.tileN() * config.clusterN()),
                Math.ceilDiv(workload.k(), config.tileK()),
                config.blocks() / (config.clusterM() * config.clusterN())));
  }

  /** The schedule itself. */
  private static Schedule scheduled(PrimFunc func, GemmWorkload workload, HopperConfig config) {
    Schedule s = new Schedule(func);
    BlockRef acc = s.block("acc");
    BlockRef c = s.block("C");
    // The result's tile: computed in registers, staged in shared memory, stored.
    Schedule.Written out = s.cacheWrite(c, Scope.SHARED);
    List<LoopRef> loops = s.loops(out.copy());
    Schedule.Halves m = s.split(loops.get(loops.size() - 2), config.tileM());
    Schedule.Halves n = s.split(loops.getLast(), config.tileN());
    s.reorder(m.outer(), n.outer(), m.inner(), n.inner());
    s.computeAt(c, n.outer());
    s.computeAt(acc, n.outer());
    // Steps along K, each with its tiles of the operands in shared memory.
    List<LoopRef> inner = s.loops(acc);
    Schedule.Halves k = s.split(inner.getLast(), config.tileK());
    s.reorder(k.outer(), inner.get(inner.size() - 3), inner.get(inner.size() - 2), k.inner());
    BlockRef a = s.cacheRead(s.buffer("A"), Scope.SHARED, acc);
    BlockRef b = s.cacheRead(s.buffer("B"), Scope.SHARED, acc);
    s.computeAt(a, k.outer());
    s.computeAt(b, k.outer());
    s.setScope(s.buffer("acc"), Scope.FRAGMENT);
    s.compactAll();
    if (workload.batch().isMany()) {
      s.squeeze();
    }
    BlockRef init = s.decomposeReduction(acc, k.outer());
    s.pipeline(k.outer(), config.stages());
    s.roles(1, config.consumers());
    // The rows of tiles of several products follow each other.
    LoopRef rows = workload.batch().isMany() ? s.fuse(loops.getFirst(), m.outer()) : m.outer();
    share(s, rows, n.outer(), config, a, b);
    s.annotate("minBlocks", (long) config.minBlocks());
    workload.describe(s);
    for (BlockRef block : List.of(init, a, b)) {
      s.tensorize(block, Attrs.NONE);
    }
    s.tensorize(acc, Attrs.NONE.with("instr", instruction(workload, config)));
    s.tensorize(c, Attrs.NONE);
    s.tensorize(out.copy(), Attrs.NONE);
    return s;
  }

  /** Shares the tiles out to blocks. */
  private static void share(
      Schedule s, LoopRef rows, LoopRef columns, HopperConfig config, BlockRef a, BlockRef b) {
    if (config.blocks() == 0) {
      s.bind(columns, ThreadAxis.BLOCK_X);
      s.bind(rows, ThreadAxis.BLOCK_Y);
      return;
    }
    LoopRef tiles = s.blockOrder(rows, columns, config.order());
    if (config.isDivided()) {
      s.annotate(tiles, "division", config.division().text());
    }
    s.persistent(tiles, config.blocks());
    if (config.clusterM() * config.clusterN() > 1) {
      s.cluster(config.clusterM(), config.clusterN());
      if (config.clusterM() > 1) {
        s.multicast(b);
      }
      if (config.clusterN() > 1) {
        s.multicast(a);
      }
    }
  }

  /** The matrix instruction: as many columns as the tile, or rows where operands are swapped. */
  private static String instruction(GemmWorkload workload, HopperConfig config) {
    GemmWorkload.Layout layout = workload.layout();
    boolean alongRows = config.swapped() ? !layout.transposedB() : layout.transposedA();
    boolean alongColumns = config.swapped() ? layout.transposedA() : !layout.transposedB();
    return "wgmma.m64n%dk%d.f32.%s%s%s"
        .formatted(
            config.swapped() ? config.tileM() : config.tileN(),
            32 / workload.operands().bytes(),
            HopperLimits.instructionType(workload),
            alongRows ? ".ta" : "",
            alongColumns ? ".tb" : "");
  }
}
