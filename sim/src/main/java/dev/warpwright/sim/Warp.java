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

  private final List<WarpNode.Activity> stack = new ArrayList<>();

  /** The barrier at which the warp waits, or null. */
  @Nullable Stmt waiting;

  private boolean yielded;

  Warp(int index, Frame[] lanes) {
    this.index = index;
    this.lanes = lanes;
    this.copies = new AsyncCopies[lanes.length];
    for (int i = 0; i < copies.length; i++) {
      copies[i] = new AsyncCopies();
    }
  }

  /** All threads of the warp. */
  int fullMask() {
    return lanes.length == 32 ? -1 : (1 << lanes.length) - 1;
  }

  void push(WarpNode.Activity activity) {
    stack.add(activity);
  }

  void pop() {
    stack.removeLast();
  }

  boolean finished() {
    return stack.isEmpty();
  }

  boolean runnable() {
    return waiting == null && !finished();
  }

  /** Lets other warps go first. */
  void yield() {
    yielded = true;
  }

  /** Executes until the warp waits, yields or is finished. */
  void resume() {
    yielded = false;
    while (runnable() && !yielded) {
      stack.getLast().advance(this);
    }
  }
}
