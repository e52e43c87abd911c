package dev.warpwright.sim.memory;

/**
 * What is known to have happened of the processes that run at once: of each of them, up to which of
 * its ticks.
 */
public final class FlowClock {
  /** Outside of roles nothing happens at once. */
  public static final FlowClock ALONE = new FlowClock(0, 0, 0);

  /** Which processes run at once with it; others were before or will be behind. */
  final int together;

  /** The process it is the clock of, or -1 for what is only known. */
  final int own;

  private final int[] ticks;

  public FlowClock(int together, int processes, int own) {
    this.together = together;
    this.own = own;
    this.ticks = new int[processes];
    if (own >= 0 && processes > 0) {
      ticks[own] = 1;
    }
  }

  int tick() {
    return ticks.length == 0 ? 0 : ticks[own];
  }

  boolean knows(int process, int tick) {
    return process == own || tick <= ticks[process];
  }

  /** Learns what the other knows. */
  public void join(FlowClock other) {
    if (other.together != together) {
      return;
    }
    for (int i = 0; i < ticks.length; i++) {
      ticks[i] = Math.max(ticks[i], other.ticks[i]);
    }
  }

  /** What is known here together with what was known of the other before, for whoever waits. */
  public FlowClock released(FlowClock before) {
    FlowClock result = new FlowClock(together, ticks.length, -1);
    result.join(before);
    result.join(this);
    if (ticks.length > 0) {
      ticks[own]++;
    }
    return result;
  }
}
