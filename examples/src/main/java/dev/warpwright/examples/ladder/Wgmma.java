package dev.warpwright.examples.ladder;

import dev.warpwright.families.StagedGemm;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;

/**
 * Products of warpgroups: the same tiles, larger, with roles. A producer fills the ring of stages
 * by TMA copies, two consumers multiply straight from shared memory, 64 rows each; a block on each
 * SM goes on to the next tile while its results leave. Pairs of blocks, one above the other, share
 * each tile of B: one copy reaches both.
 */
final class Wgmma {
  private Wgmma() {}

  /**
   * The schedule.
   *
   * @param pairs whether blocks share tiles of B
   * @param blocks that run at the same time
   */
  static Schedule schedule(PrimFunc matmul, boolean pairs, int blocks) {
    Schedule s = new Schedule(matmul);
    StagedGemm tiles = StagedGemm.of(s, StagedGemm.Names.GEMM, 128, 256, 64, 4);
    s.roles(1, 2);
    LoopRef work = s.blockOrder(tiles.rows(), tiles.columns(), new BlockOrder.Grouped(8));
    s.persistent(work, blocks);
    if (pairs) {
      s.cluster(2, 1);
      s.multicast(tiles.b());
    }
    s.annotate("minBlocks", 1L);
    tiles.tensorize(s, Attrs.NONE.with("instr", "wgmma.m64n256k16.f32.bf16"));
    return s;
  }
}
