package dev.warpwright.examples.ladder;

import dev.warpwright.families.StagedGemm;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;

/**
 * Products of warps: the sums are fragments in the registers of 2 × 2 warps, the operands tiles in
 * shared memory that asynchronous copies fill some steps ahead, and {@code tensorize} makes matrix
 * instructions of the loops over a step. Blocks take the tiles in groups of 8 rows, so that those
 * that run at the same time share what they read in the second-level cache.
 */
final class MmaSync {
  private MmaSync() {}

  static Schedule schedule(PrimFunc matmul, long k) {
    Schedule s = new Schedule(matmul);
    // Rows of an odd number of elements pass through registers, which tiles of 128 leave none of.
    boolean odd = k % 2 != 0;
    StagedGemm tiles =
        odd
            ? StagedGemm.of(s, StagedGemm.Names.GEMM, 64, 64, 64, 3)
            : StagedGemm.of(s, StagedGemm.Names.GEMM, 128, 128, 32, 4);
    LoopRef blocks = s.blockOrder(tiles.rows(), tiles.columns(), new BlockOrder.Grouped(8));
    s.bind(blocks, ThreadAxis.BLOCK_X);
    s.annotate("threads", 128L);
    s.annotate("minBlocks", 2L);
    Attrs warps = Attrs.NONE.with("warpsM", 2).with("warpsN", 2);
    tiles.tensorize(s, warps.with("instr", "mma.m16n8k16.f32.bf16"));
    return s;
  }
}
