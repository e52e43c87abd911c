package dev.warpwright.perf.order;

import java.util.List;

/**
 * What a search for an order walks through: states of (computed tiles, contents of the cache) up to
 * numbering, packed into a {@code long}. Not for use by several threads at once.
 */
abstract class SearchSpace {
  /** Takes the successors of a state. */
  interface Visitor {
    /**
     * One successor.
     *
     * @param loads that lead to it
     */
    void accept(long next, int loads);
  }

  /**
   * In a call of the visitor: the tiles that the step computes, in the numbers of the old state.
   */
  long stepTiles;

  /** The state before the first step. */
  long start() {
    return 0;
  }

  /** Whether every tile is computed. */
  abstract boolean done(long state);

  /** Visits all successors. */
  abstract void expand(long state, Visitor visitor);

  /** Loads that are still needed at least. */
  abstract int bound(long state);

  /** How many rows and columns have numbers that states may exchange. */
  abstract int numbers();

  /** In a call of the visitor: the old number for each new one. */
  abstract int[] renumbering();

  /** The tiles of a step, with rows and columns called by their names. */
  abstract List<WorkItem> items(long tiles, int[] names);
}
