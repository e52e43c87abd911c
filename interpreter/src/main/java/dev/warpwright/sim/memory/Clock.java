package dev.warpwright.sim.memory;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * What someone knows to have happened: of each agent (see {@link Agents}), up to which of its
 * ticks. Of a warp it may be known of single lanes that they have come further than all of them
 * together: one lane's arrival at a barrier says nothing of what its neighbours have done since
 * they last met.
 */
public final class Clock {
  private static final int LANES = 32;

  private int[] ticks = new int[32];
  private int version;

  /** By agent, the ticks of its lanes, where some are greater than the agent's own. */
  private final Map<Integer, int[]> lanes = new HashMap<>(0);

  /** A number that is another one whenever something has been learned. */
  int version() {
    return version;
  }

  /** Up to where all of the agent is known. */
  int get(int agent) {
    return agent < ticks.length ? ticks[agent] : 0;
  }

  /** Whether anything of the agent is known. */
  boolean hasHeardOf(int agent) {
    return get(agent) > 0 || lanes.containsKey(agent);
  }

  /**
   * Whether the agent is known to have come to a tick.
   *
   * @param lane of the agent, or {@link Shadow#WHOLE_WARP} for all
   */
  boolean knows(int agent, int tick, byte lane) {
    if (tick <= get(agent)) {
      return true;
    }
    if (lane == Shadow.WHOLE_WARP || lanes.isEmpty()) {
      return false;
    }
    int[] known = lanes.get(agent);
    return known != null && tick <= known[lane];
  }

  /**
   * Whether an epoch of one of the agents is known to have happened.
   *
   * @param lane whose doing it was, or {@link Shadow#WHOLE_WARP} if it is of no single lane
   */
  public boolean knows(long epoch, byte lane) {
    return knows(Agents.agent(epoch), Agents.tick(epoch), lane);
  }

  /** Learns that the agent has come to this tick. */
  public void learn(int agent, int tick) {
    if (agent >= ticks.length) {
      ticks = Arrays.copyOf(ticks, Math.max(agent + 1, 2 * ticks.length));
    }
    if (ticks[agent] < tick) {
      ticks[agent] = tick;
      version++;
      if (!lanes.isEmpty()) {
        lanes.computeIfPresent(agent, (a, known) -> saysMore(a, known) ? known : null);
      }
    }
  }

  /** Learns that one lane of the agent has come to this tick. */
  public void learn(int agent, int tick, byte lane) {
    if (lane == Shadow.WHOLE_WARP) {
      learn(agent, tick);
    } else if (!knows(agent, tick, lane)) {
      int[] known = lanes.computeIfAbsent(agent, a -> new int[LANES]);
      known[lane] = tick;
      version++;
      int all = Integer.MAX_VALUE;
      for (int t : known) {
        all = Math.min(all, t);
      }
      learn(agent, all);
    }
  }

  private boolean saysMore(int agent, int[] known) {
    for (int t : known) {
      if (t > ticks[agent]) {
        return true;
      }
    }
    return false;
  }

  /** Learns all that the other knows. */
  public void join(Clock other) {
    version++;
    if (other.ticks.length > ticks.length) {
      ticks = Arrays.copyOf(ticks, other.ticks.length);
    }
    for (int i = 0; i < other.ticks.length; i++) {
      ticks[i] = Math.max(ticks[i], other.ticks[i]);
    }
    if (!lanes.isEmpty()) {
      lanes.entrySet().removeIf(e -> !saysMore(e.getKey(), e.getValue()));
    }
    other.lanes.forEach(this::learnLanes);
  }

  /** Learns all that the other knows, except of these agents. */
  void joinWithout(Clock other, BitSet agents) {
    for (int i = 0; i < other.ticks.length; i++) {
      if (other.ticks[i] != 0 && !agents.get(i)) {
        learn(i, other.ticks[i]);
      }
    }
    other.lanes.forEach(
        (agent, known) -> {
          if (!agents.get(agent)) {
            learnLanes(agent, known);
          }
        });
  }

  private void learnLanes(int agent, int[] known) {
    for (byte lane = 0; lane < LANES; lane++) {
      learn(agent, known[lane], lane);
    }
  }

  /** An agent of which the other knows more, or -1. */
  public int firstBehind(Clock other) {
    for (int i = 0; i < other.ticks.length; i++) {
      if (other.ticks[i] > get(i)) {
        return i;
      }
    }
    return -1;
  }
}
