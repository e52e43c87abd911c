package dev.warpwright.sim.memory;

/** One of the processes that execute a tile program at once, as one who accesses memory. */
public abstract class FlowParty {
  /** What it knows to have happened, and which of those that run at once it is. */
  public final FlowClock clock;

  private final String name;

  public FlowParty(String name, FlowClock clock) {
    this.name = name;
    this.clock = clock;
  }

  public String name() {
    return name;
  }
}
