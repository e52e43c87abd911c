package dev.warpwright.sim;

import java.util.List;

/** A block as those see it who access its memory: its warps, and what is under way there. */
abstract class BlockPlace {
  /** What others still do in its shared memory, for all they know, as agents' ticks. */
  final Clock outstanding = new Clock();

  /** Number of its cluster in the grid. */
  abstract long cluster();

  /** Its warps. */
  abstract List<Actor> actors();

  /** The block of its rank in another cluster, for messages. */
  abstract String inCluster(long number);
}
