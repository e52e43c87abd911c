package dev.warpwright.sim.block;

import dev.warpwright.sim.memory.Clock;
import java.util.HashMap;
import java.util.Map;

/** What the counters of a grid let know, by slot and element. */
public final class ReleasedCounters {
  private final Map<Long, Clock> clocks = new HashMap<>();

  public Clock at(int slot, int element) {
    return clocks.computeIfAbsent((long) slot << 32 | element, key -> new Clock());
  }
}
