package dev.warpwright.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Sets of epochs of one buffer's elements that several agents read, each kept once: neighbouring
 * elements have the same readers. A set is a negative number, a single epoch stands for itself.
 */
final class EpochSets {
  private final List<long[]> sets = new ArrayList<>();
  private final Map<Key, Long> sums = new HashMap<>();
  private Key last = new Key(0, 0);
  private long lastSum;

  private record Key(long set, long epoch) {}

  long[] members(long set) {
    return set < 0 ? sets.get((int) (-set - 1)) : new long[] {set};
  }

  /** The set with one more epoch, without what the actor knows to be over. */
  long plus(long set, long epoch, Actor actor) {
    if (last.set != set || last.epoch != epoch) {
      last = new Key(set, epoch);
      Long known = sums.get(last);
      lastSum = known != null ? known : add(set, epoch, actor);
      sums.put(last, lastSum);
    }
    return lastSum;
  }

  private long add(long set, long epoch, Actor actor) {
    long[] old = members(set);
    long[] sum = new long[old.length + 1];
    int n = 0;
    for (long e : old) {
      boolean sameAgent =
          actor.agents.comparable(e, epoch) && Agents.agent(e) == Agents.agent(epoch);
      if (!sameAgent && !actor.knows(e)) {
        sum[n++] = e;
      }
    }
    sum[n++] = epoch;
    if (n == 1) {
      return epoch;
    }
    sets.add(Arrays.copyOf(sum, n));
    return -sets.size();
  }
}
