package dev.warpwright.sim.block;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The asynchronous copies of one thread. They happen as late as allowed, when the thread waits for
 * them, so that a missing wait shows.
 */
public final class AsyncCopies {
  private List<Runnable> open = new ArrayList<>();
  private final Deque<List<Runnable>> groups = new ArrayDeque<>();

  public void add(Runnable copy) {
    open.add(copy);
  }

  public void commit() {
    groups.add(open);
    open = new ArrayList<>();
  }

  /** Completes the oldest groups until at most so many are left. */
  public void await(long pending) {
    while (groups.size() > pending) {
      groups.remove().forEach(Runnable::run);
    }
  }
}
