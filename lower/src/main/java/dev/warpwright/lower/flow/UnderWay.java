package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Groups of a warpgroup's products that nobody has waited for, the oldest first: fragments that
 * they write or read. Groups end in the order in which they began, so whoever waits for one waits
 * for those before it, and for none behind it.
 */
final class UnderWay {
  private final List<Set<Buffer>> groups = new ArrayList<>();

  boolean isEmpty() {
    return groups.isEmpty();
  }

  /** One more group. */
  void add(Set<Buffer> fragments) {
    groups.add(Set.copyOf(fragments));
  }

  UnderWay copy() {
    UnderWay copy = new UnderWay();
    copy.groups.addAll(groups);
    return copy;
  }

  /** So many may still be under way. */
  void keep(int unfinished) {
    if (groups.size() > unfinished) {
      groups.subList(0, groups.size() - unfinished).clear();
    }
  }

  /** The wait for the newest group that has one of the fragments; nothing if there is none. */
  Stmt waitFor(Predicate<Buffer> touched) {
    for (int behind = 0; behind < groups.size(); behind++) {
      if (groups.get(groups.size() - 1 - behind).stream().anyMatch(touched)) {
        keep(behind);
        return Exprs.evaluate(HopperIntrinsics.WGMMA_WAIT, Exprs.i32(behind));
      }
    }
    return Stmt.Seq.EMPTY;
  }

  /** Whether nothing is under way there that is not under way here, in the same order. */
  boolean covers(UnderWay other) {
    return other.isEmpty()
        || groups.equals(other.groups)
        || groups.size() == 1 && groups.getFirst().containsAll(other.all());
  }

  /** What may be under way where either is; of different ones nobody knows how many groups. */
  UnderWay or(UnderWay other) {
    if (groups.equals(other.groups)) {
      return copy();
    }
    Set<Buffer> either = all();
    either.addAll(other.all());
    UnderWay joined = new UnderWay();
    joined.add(either);
    return joined;
  }

  private Set<Buffer> all() {
    Set<Buffer> all = new HashSet<>();
    groups.forEach(all::addAll);
    return all;
  }
}
