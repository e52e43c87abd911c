package dev.warpwright.sim;

import java.util.Arrays;
import java.util.BitSet;

/**
 * What someone knows to have happened: of each agent (see {@link Agents}), up to which of its
 * ticks.
 */
final class Clock {
  private int[] ticks = new int[32];
  private int version;

  /** A number that is another one whenever something has been learned. */
  int version() {
    return version;
  }

  int get(int agent) {
    return agent < ticks.length ? ticks[agent] : 0;
  }

  /** Learns that the agent has come to this tick. */
  void learn(int agent, int tick) {
    if (agent >= ticks.length) {
      ticks = Arrays.copyOf(ticks, Math.max(agent + 1, 2 * ticks.length));
    }
    if (ticks[agent] < tick) {
      ticks[agent] = tick;
      version++;
    }
  }

  /** Learns all that the other knows. */
  void join(Clock other) {
    version++;
    if (other.ticks.length > ticks.length) {
      ticks = Arrays.copyOf(ticks, other.ticks.length);
    }
    for (int i = 0; i < other.ticks.length; i++) {
      ticks[i] = Math.max(ticks[i], other.ticks[i]);
    }
  }

  /** Learns all that the other knows, except of these agents. */
  void joinWithout(Clock other, BitSet agents) {
    for (int i = 0; i < other.ticks.length; i++) {
      if (other.ticks[i] != 0 && !agents.get(i)) {
        learn(i, other.ticks[i]);
      }
    }
  }

  /** An agent of which the other knows more, or -1. */
  int firstBehind(Clock other) {
    for (int i = 0; i < other.ticks.length; i++) {
      if (other.ticks[i] > get(i)) {
        return i;
      }
    }
    return -1;
  }
}
