package dev.warpwright.sim.memory;

import java.util.List;

/** A block as those see it who access its memory: its warps, and what is under way there. */
public abstract class BlockPlace {
  /** What its copies and products still do in its shared memory, as agents' ticks. */
  public final Clock outstanding = new Clock();

  /** Number of its cluster in the grid. */
  public abstract long cluster();

  /** Its warps. */
  public abstract List<Actor> actors();

  /** The block of its rank in another cluster, for messages. */
  public abstract String inCluster(long number);
}
