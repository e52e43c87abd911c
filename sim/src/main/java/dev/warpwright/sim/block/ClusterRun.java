package dev.warpwright.sim.block;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.counter.Counting;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Index3;
import dev.warpwright.sim.memory.Agents;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The blocks of a cluster, which are in execution together; a block alone if there are none. */
public final class ClusterRun {
  final long number;
  final Agents agents;
  public final List<BlockRun> blocks = new ArrayList<>();

  /** Which of the places for clusters in execution this one has. */
  public final int place;

  public final TmaLoads loads;
  public final ReleasedCounters counters;
  public final Turns turns;
  final @Nullable Counting counting;

  private final Context context;
  private final Index3 extents;

  public ClusterRun(Context context, long number, int place, Agents agents, Grid grid) {
    this.context = context;
    this.number = number;
    this.place = place;
    this.agents = agents;
    this.loads = grid.loads;
    this.counters = grid.counters;
    this.turns = grid.turns;
    this.counting = grid.counting;
    this.extents = grid.blocks;
  }

  /** A block of any cluster of the grid. */
  Index3 block(long cluster, int rankInCluster) {
    return extents.index(cluster * blocks.size() + rankInCluster);
  }

  public boolean finished() {
    for (BlockRun block : blocks) {
      if (!block.finished()) {
        return false;
      }
    }
    return true;
  }

  public void addRunnable(List<Warp> runnable) {
    for (BlockRun block : blocks) {
      for (Warp w : block.warps()) {
        if (w.runnable()) {
          runnable.add(w);
        }
      }
    }
  }

  /**
   * Lets warps go on that wait at a barrier of their block or of the cluster, where all others wait
   * too.
   *
   * @return whether some go on
   */
  public boolean releaseBarriers() {
    boolean released = false;
    for (BlockRun block : blocks) {
      released |= block.releaseBarrier();
    }
    @Nullable BlockRun ended = null;
    boolean waits = false;
    for (BlockRun block : blocks) {
      for (Warp w : block.warps()) {
        if (w.waiting != null && w.waitingForCluster) {
          waits = true;
        } else if (w.finished()) {
          ended = block;
        } else {
          return released;
        }
      }
    }
    if (!waits) {
      return released;
    }
    List<Warp> waiting = new ArrayList<>();
    for (BlockRun block : blocks) {
      for (Warp w : block.warps()) {
        if (w.waiting != null) {
          waiting.add(w);
        }
      }
    }
    if (ended != null) {
      Stmt where = waiting.getFirst().waiting;
      throw context.fault(
          Finding.Kind.BARRIER,
          where == null ? Stmt.Seq.EMPTY : where,
          waiting.getFirst().lanes[0],
          "",
          "not all warps of the cluster arrive: some of block " + ended + " have ended");
    }
    BlockRun.meet(waiting);
    for (Warp w : waiting) {
      w.waiting = null;
      w.waitingForCluster = false;
      w.meetsRelaxed = false;
    }
    return true;
  }

  /** Ends the blocks whose warps have all ended. */
  public void endBlocks(Stmt last) {
    for (BlockRun block : blocks) {
      if (!block.ended() && block.finished()) {
        block.end(last);
      }
    }
  }
}
