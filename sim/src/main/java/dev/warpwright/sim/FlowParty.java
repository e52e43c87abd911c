package dev.warpwright.sim;

/** One of the processes that execute a tile program at once, as one who accesses memory. */
abstract class FlowParty {
  /** What it knows to have happened, and which of those that run at once it is. */
  final FlowClock clock;

  private final String name;

  FlowParty(String name, FlowClock clock) {
    this.name = name;
    this.clock = clock;
  }

  String name() {
    return name;
  }
}
