package dev.warpwright.sim;

import dev.warpwright.ir.Stmt;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Up to 32 threads that execute in lockstep, and where they are. */
final class Warp {
  final int index;

  /** One for each thread; fewer than 32 in the last warp of an odd block. */
  final Frame[] lanes;

  final AsyncCopies[] copies;
  final BulkStores[] stores;
  final BlockRun block;
  final Actor actor;

  private final List<WarpNode.Activity> stack = new ArrayList<>();

  /** The barrier of the block or cluster at which the warp waits, or null. */
  @Nullable Stmt waiting;

  /** Whether that barrier is the cluster's. */
  boolean waitingForCluster;

  /** Whether it lets others know there only what it has waited for. */
  boolean meetsRelaxed;

  /** What else the warp waits for, or null. */
  private @Nullable Blocked blocked;

  /** The loop that goes round without changing anything, or null. */
  private @Nullable Stmt spinning;

  /** How often the warp changed something. */
  long changes;

  /** In which turn it went on last; 0 if it never did. */
  long resumed;

  private boolean yielded;

  /** Where its requests are counted, null if they are not. */
  final @Nullable WarpRequests requests;

  /** Counts what the statement that is over has accessed. */
  void finishRequests() {
    if (requests != null) {
      requests.finish();
    }
  }

  Warp(BlockRun block, int index, Frame[] lanes) {
    this.block = block;
    this.index = index;
    this.lanes = lanes;
    Counting counting = block.in.counting;
    this.requests = counting == null ? null : new WarpRequests(counting, block.cluster());
    this.actor = new Actor(block.agents(), block, "warp " + index);
    this.copies = new AsyncCopies[lanes.length];
    this.stores = new BulkStores[lanes.length];
    for (int i = 0; i < copies.length; i++) {
      copies[i] = new AsyncCopies();
      stores[i] = new BulkStores(block, actor, index * 32 + i);
      lanes[i].actor = actor;
      lanes[i].laneBit = 1 << i;
      lanes[i].warpLane = (byte) i;
      lanes[i].requests = requests;
    }
  }

  /** All threads of the warp. */
  int fullMask() {
    return lanes.length == 32 ? -1 : (1 << lanes.length) - 1;
  }

  /** Something done by every active lane for itself. */
  void each(int mask, Exec exec) {
    for (int m = mask; m != 0; m &= m - 1) {
      exec.run(lanes[Integer.numberOfTrailingZeros(m)]);
    }
    finishRequests();
  }

  /** The active lanes where a condition holds. */
  int where(int mask, LongExpr condition) {
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

  void push(WarpNode.Activity activity) {
    stack.add(activity);
  }

  void pop() {
    stack.removeLast();
  }

  boolean finished() {
    return stack.isEmpty() && !waits();
  }

  boolean runnable() {
    return !stack.isEmpty() && !waits();
  }

  private boolean waits() {
    return waiting != null || (blocked != null && !blocked.isOver());
  }

  /** Makes the warp wait. */
  void block(Blocked by) {
    changes++;
    blocked = by;
  }

  @Nullable Blocked blocked() {
    return blocked;
  }

  /** Lets other warps go first. */
  void yield(@Nullable Stmt spinningAt) {
    spinning = spinningAt;
    yielded = true;
  }

  /** Whether it let others go first when it stopped. */
  boolean hasYielded() {
    return yielded;
  }

  void forgetYield() {
    yielded = false;
  }

  /** The loop that goes round without changing anything, or null. */
  @Nullable Stmt spinning() {
    return spinning;
  }

  /** Executes until the warp waits, yields or is finished. */
  void resume() {
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
