package dev.warpwright.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The asynchronous copies of one thread. They happen as late as allowed, when the thread waits for
 * them, so that a missing wait shows.
 */
final class AsyncCopies {
  private List<Runnable> open = new ArrayList<>();
  private final Deque<List<Runnable>> groups = new ArrayDeque<>();

  void add(Runnable copy) {
    open.add(copy);
  }

  void commit() {
    groups.add(open);
    open = new ArrayList<>();
  }

  /** Completes the oldest groups until at most so many are left. */
  void await(long pending) {
    while (groups.size() > pending) {
      groups.remove().forEach(Runnable::run);
    }
  }
}
