package dev.warpwright.sim.memory;

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
  private long lastSet;
  private long lastEpoch;
  private int lastVersion;
  private long lastSum;

  private record Key(long set, long epoch) {}

  long[] members(long set) {
    return set < 0 ? sets.get((int) (-set - 1)) : new long[] {set};
  }

  /** The set with one more epoch, without what the actor knows to be over. */
  long plus(long set, long epoch, Actor actor) {
    if (lastSet != set || lastEpoch != epoch || lastVersion != actor.clock.version()) {
      lastSet = set;
      lastEpoch = epoch;
      lastVersion = actor.clock.version();
      lastSum = staysSame(set, epoch, actor) ? set : sum(set, epoch, actor);
    }
    return lastSum;
  }

  private boolean staysSame(long set, long epoch, Actor actor) {
    boolean contained = false;
    for (long e : members(set)) {
      if (e == epoch) {
        contained = true;
      } else if (isCovered(e, epoch, actor)) {
        return false;
      }
    }
    return contained;
  }

  /** Whether an epoch is of no interest any more beside another. */
  private static boolean isCovered(long e, long epoch, Actor actor) {
    return (actor.agents.comparable(e, epoch) && Agents.agent(e) == Agents.agent(epoch))
        || actor.knows(e);
  }

  private long sum(long set, long epoch, Actor actor) {
    Key key = new Key(set, epoch);
    Long known = sums.get(key);
    if (known == null) {
      known = add(set, epoch, actor);
      sums.put(key, known);
    }
    return known;
  }

  private long add(long set, long epoch, Actor actor) {
    long[] old = members(set);
    long[] sum = new long[old.length + 1];
    int n = 0;
    for (long e : old) {
      if (!isCovered(e, epoch, actor)) {
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
