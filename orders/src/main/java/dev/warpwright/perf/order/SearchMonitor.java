package dev.warpwright.perf.order;

import java.util.List;

/** Watches a search, and may end it. Called from the thread that searches, some times a second. */
public interface SearchMonitor {
  /** Lets a search run to its end. */
  SearchMonitor NONE = new SearchMonitor() {};

  /** Whether the search should stop and return the best that it has. */
  default boolean cancelled() {
    return false;
  }

  /**
   * How far the search is.
   *
   * @param states that were looked at
   * @param lowerBound what is proven: no order needs fewer loads
   * @param loads of the best order so far
   * @param path that order
   */
  default void progress(long states, long lowerBound, long loads, List<WorkItem> path) {}
}
