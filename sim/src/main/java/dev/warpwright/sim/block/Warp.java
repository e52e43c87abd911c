package dev.warpwright.sim.block;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.counter.Counting;
import dev.warpwright.sim.counter.WarpRequests;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.memory.Actor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Up to 32 threads that execute in lockstep, and where they are. */
public final class Warp {
  public final int index;

  /** One for each thread; fewer than 32 in the last warp of an odd block. */
  public final Frame[] lanes;

  public final AsyncCopies[] copies;
  public final TmaStores[] stores;
  public final BlockRun block;
  public final Actor actor;

  private final List<WarpNode.Activity> stack = new ArrayList<>();

  /** The barrier of the block or cluster at which the warp waits, or null. */
  public @Nullable Stmt waiting;

  /** Whether that barrier is the cluster's. */
  public boolean waitingForCluster;

  /** Whether it lets others know there only what it has waited for. */
  public boolean meetsRelaxed;

  /** What else the warp waits for, or null. */
  private @Nullable Blocked blocked;

  /** The loop that goes round without changing anything, or null. */
  private @Nullable Stmt spinning;

  /** How often the warp changed something. */
  public long changes;

  /** In which turn it went on last; 0 if it never did. */
  public long resumed;

  private boolean yielded;

  /** Where its requests are counted, null if they are not. */
  public final @Nullable WarpRequests requests;

  /** Counts what the statement that is over has accessed. */
  public void finishRequests() {
    if (requests != null) {
      requests.finish();
    }
  }

  public Warp(BlockRun block, int index, Frame[] lanes) {
    this.block = block;
    this.index = index;
    this.lanes = lanes;
    Counting counting = block.in.counting;
    this.requests = counting == null ? null : new WarpRequests(counting, block.cluster());
    this.actor = new Actor(block.agents(), block, "warp " + index);
    this.copies = new AsyncCopies[lanes.length];
    this.stores = new TmaStores[lanes.length];
    for (int i = 0; i < copies.length; i++) {
      copies[i] = new AsyncCopies();
      stores[i] = new TmaStores(block, actor, index * 32 + i);
      lanes[i].actor = actor;
      lanes[i].laneBit = 1 << i;
      lanes[i].warpLane = (byte) i;
      lanes[i].requests = requests;
    }
  }

  /** All threads of the warp. */
  public int fullMask() {
    return lanes.length == 32 ? -1 : (1 << lanes.length) - 1;
  }

  /** Something done by every active lane for itself. */
  public void each(int mask, Exec exec) {
    for (int m = mask; m != 0; m &= m - 1) {
      exec.run(lanes[Integer.numberOfTrailingZeros(m)]);
    }
    finishRequests();
  }

  /** The active lanes where a condition holds. */
  public int where(int mask, LongExpr condition) {
    int result = 0;
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      if (condition.eval(lanes[lane]) != 0) {
        result |= 1 << lane;
      }
    }
    finishRequests();
    return result;
  }

  public void push(WarpNode.Activity activity) {
    stack.add(activity);
  }

  public void pop() {
    stack.removeLast();
  }

  public boolean finished() {
    return stack.isEmpty() && !waits();
  }

  public boolean runnable() {
    return !stack.isEmpty() && !waits();
  }

  private boolean waits() {
    return waiting != null || (blocked != null && !blocked.isOver());
  }

  /** Makes the warp wait. */
  public void block(Blocked by) {
    changes++;
    blocked = by;
  }

  public @Nullable Blocked blocked() {
    return blocked;
  }

  /** Lets other warps go first. */
  public void yield(@Nullable Stmt spinningAt) {
    spinning = spinningAt;
    yielded = true;
  }

  /** Whether it let others go first when it stopped. */
  public boolean hasYielded() {
    return yielded;
  }

  public void forgetYield() {
    yielded = false;
  }

  /** The loop that goes round without changing anything, or null. */
  public @Nullable Stmt spinning() {
    return spinning;
  }

  /** Executes until the warp waits, yields or is finished. */
  public void resume() {
    yielded = false;
    spinning = null;
    blocked = null;
    while (waiting == null && blocked == null && !stack.isEmpty() && !yielded) {
      stack.getLast().advance(this);
    }
    if (requests != null) {
      requests.forget();
    }
  }
}
