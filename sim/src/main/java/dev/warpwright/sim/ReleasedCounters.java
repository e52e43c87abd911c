package dev.warpwright.sim;

import java.util.HashMap;
import java.util.Map;

/** What the counters of a grid let know, by slot and element. */
final class ReleasedCounters {
  private final Map<Long, Clock> clocks = new HashMap<>();

  Clock at(int slot, int element) {
    return clocks.computeIfAbsent((long) slot << 32 | element, key -> new Clock());
  }
}
