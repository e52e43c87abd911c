package dev.warpwright.sim.block;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.memory.Shadow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** The bulk loads of a grid that are under way. They arrive in any order. */
public final class TmaLoads {
  private final List<Load> pending = new ArrayList<>();

  /**
   * One load into one block.
   *
   * @param f the thread that started it
   * @param phase of the barrier in which it was started
   */
  public record Load(
      Frame f,
      Supplier<byte[]> source,
      BlockRun block,
      SharedRows target,
      int rows,
      int columns,
      MBarrier barrier,
      int phase,
      Stmt where) {
    private void arrive() {
      byte[] tile = source.get();
      byte[] memory = block.memory[target.slot()];
      int rowBytes = columns * target.elementBytes();
      for (int r = 0; r < rows; r++) {
        for (int at = 0; at < rowBytes; at += SharedRows.CHUNK_BYTES) {
          int to = target.offset(r, at / target.elementBytes()) * target.elementBytes();
          System.arraycopy(tile, r * rowBytes + at, memory, to, SharedRows.CHUNK_BYTES);
        }
      }
      Shadow shadow = block.shadows[target.slot()];
      if (shadow != null) {
        shadow.arrived((int) target.first(), rows * columns);
      }
      barrier.delivered(f, (long) rows * rowBytes, phase, where);
    }
  }

  public void add(Load load) {
    pending.add(load);
  }

  /** How many are under way. */
  public int count() {
    return pending.size();
  }

  /** Lets one of them arrive. */
  public void arrive(int which) {
    pending.remove(which).arrive();
  }
}
