package dev.warpwright.examples.ladder;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.type.DType;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.Schedule.Halves;
import java.util.List;

/** Steps that several rungs take in the same way. */
final class Steps {
  private static final long ACCESS_BYTES = 16;

  private Steps() {}

  /** What is multiplied. */
  static DType dtype(PrimFunc matmul) {
    return matmul.buffers().getFirst().dtype();
  }

  /** Elements of one access of 16 bytes: 4 in f32, 2 in f64. */
  static long lanes(Schedule s) {
    return ACCESS_BYTES / dtype(s.func()).bytes();
  }

  /** Makes accesses of 16 bytes of a loop over neighbours. */
  static void vectorize(Schedule s, LoopRef neighbours) {
    long lanes = lanes(s);
    if (s.extent(neighbours).orElse(0) == lanes) {
      s.vectorize(neighbours);
      return;
    }
    Halves accesses = s.split(neighbours, lanes);
    s.unroll(accesses.outer());
    s.vectorize(accesses.inner());
  }

  /** The sum in registers, its operands in shared memory, everything in whole tiles. */
  record Blocks(BlockRef product, BlockRef result, BlockRef a, BlockRef b) {
    static Blocks of(Schedule s, long tileM, long tileN, long tileK) {
      BlockRef product = s.block("C");
      BlockRef result = s.cacheWrite(product, Scope.LOCAL).copy();
      BlockRef a = s.cacheRead(s.buffer("A"), Scope.SHARED, product);
      BlockRef b = s.cacheRead(s.buffer("B"), Scope.SHARED, product);
      s.pad(product, tileM, tileN, tileK);
      return new Blocks(product, result, a, b);
    }
  }

  /** The tile of a block of threads: loops over tiles, and over the elements of one. */
  record Tile(LoopRef blockI, LoopRef blockJ, LoopRef i, LoopRef j) {
    static Tile of(Schedule s, BlockRef block, long tileM, long tileN) {
      List<LoopRef> loops = s.loops(block);
      Halves i = s.split(loops.get(0), tileM);
      Halves j = s.split(loops.get(1), tileN);
      s.reorder(i.outer(), j.outer(), i.inner(), j.inner());
      return new Tile(i.outer(), j.outer(), i.inner(), j.inner());
    }

    void bind(Schedule s) {
      s.bind(blockI, ThreadAxis.BLOCK_Y);
      s.bind(blockJ, ThreadAxis.BLOCK_X);
    }
  }
}
