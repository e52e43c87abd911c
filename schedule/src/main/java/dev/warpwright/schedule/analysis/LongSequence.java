package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Stmt;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Which statements of a long sequence hold what. A deep network is one sequence of thousands of
 * loop nests; a primitive looks a dozen times for what is in two or three of them, and exchanges
 * those. So the sequence that it makes is all but the one before, and so is what is known of it:
 * that is brought up to date where the two differ. A thread's own, of the few sequences that were
 * looked at last, and forgotten when memory is short.
 */
final class LongSequence {
  /** Shorter ones are gone through. */
  private static final int LONG = 32;

  /** Before and after, of what is outside and inside of a loop. */
  private static final int KEPT = 4;

  private static final ThreadLocal<SoftReference<List<LongSequence>>> KNOWN =
      ThreadLocal.withInitial(() -> new SoftReference<>(new ArrayList<>()));

  private static final int FEW = 8;

  /** What statements hold that may hold anything, may have parallel loops, may be untidy. */
  private static final Object UNKNOWN = new Object();

  private static final Object PARALLEL = new Object();
  private static final Object UNTIDY = new Object();

  private List<Stmt> stmts = List.of();

  private final Map<Object, List<Stmt>> byThing = new IdentityHashMap<>();
  private final Map<String, List<Stmt>> byName = new HashMap<>();

  private LongSequence() {}

  /** What is known of a sequence; null if it is too short for that to be worth anything. */
  static @Nullable LongSequence of(Stmt.Seq seq) {
    List<Stmt> stmts = seq.stmts();
    if (stmts.size() < LONG) {
      return null;
    }
    List<LongSequence> known = KNOWN.get().get();
    if (known == null) {
      known = new ArrayList<>();
      KNOWN.set(new SoftReference<>(known));
    }
    for (LongSequence one : known) {
      if (one.stmts == stmts) {
        return one;
      }
    }
    LongSequence nearest = null;
    int most = 0;
    for (LongSequence one : known.reversed()) {
      int same = one.prefix(stmts);
      same += one.suffix(stmts, same);
      if (same > most) {
        most = same;
        nearest = one;
      }
      if (same + FEW >= stmts.size()) {
        break;
      }
    }
    if (nearest == null || most < stmts.size() / 2) {
      nearest = new LongSequence();
    }
    known.remove(nearest);
    if (known.size() == KEPT) {
      known.removeFirst();
    }
    known.addLast(nearest);
    nearest.change(stmts);
    return nearest;
  }

  private int prefix(List<Stmt> other) {
    int most = Math.min(stmts.size(), other.size());
    int same = 0;
    while (same < most && stmts.get(same) == other.get(same)) {
      same++;
    }
    return same;
  }

  private int suffix(List<Stmt> other, int prefix) {
    int most = Math.min(stmts.size(), other.size()) - prefix;
    int same = 0;
    while (same < most
        && stmts.get(stmts.size() - 1 - same) == other.get(other.size() - 1 - same)) {
      same++;
    }
    return same;
  }

  private void change(List<Stmt> to) {
    int prefix = prefix(to);
    int suffix = suffix(to, prefix);
    stmts.subList(prefix, stmts.size() - suffix).forEach(s -> count(s, -1));
    to.subList(prefix, to.size() - suffix).forEach(s -> count(s, 1));
    stmts = to;
  }

  private void count(Stmt s, int by) {
    Contents contents = Contents.ofAny(s);
    for (Object thing : contents.things()) {
      count(byThing, thing, s, by);
    }
    for (String name : contents.names()) {
      count(byName, name, s, by);
    }
    if (contents.isUnknown()) {
      count(byThing, UNKNOWN, s, by);
    }
    if (contents.mayBeParallel()) {
      count(byThing, PARALLEL, s, by);
    }
    if (!contents.isTidy() || Tree.isEmpty(s)) {
      count(byThing, UNTIDY, s, by);
    }
  }

  private static <K> void count(Map<K, List<Stmt>> holders, K key, Stmt s, int by) {
    if (by > 0) {
      holders.computeIfAbsent(key, k -> new ArrayList<>(2)).add(s);
      return;
    }
    List<Stmt> left = holders.get(key);
    if (left != null) {
      left.remove(Tree.indexOn(left, s));
      if (left.isEmpty()) {
        holders.remove(key);
      }
    }
  }

  /** The statements that may hold what is sought, in order. */
  List<Stmt> holding(Sought sought) {
    return inOrder(List.of(holders(sought), byThing.getOrDefault(UNKNOWN, List.of())));
  }

  private List<Stmt> holders(Sought sought) {
    return sought.name() != null
        ? byName.getOrDefault(sought.name(), List.of())
        : byThing.getOrDefault(sought.thing(), List.of());
  }

  /** Those that may be or have parallel loops, in order. */
  List<Stmt> mayBeParallel() {
    return inOrder(List.of(byThing.getOrDefault(PARALLEL, List.of())));
  }

  /** Whether none of them is empty, and none may be untidy. */
  boolean isTidy() {
    return !byThing.containsKey(UNTIDY);
  }

  /** The sequence with those rewritten that may be untidy; the same if none of them changes. */
  Stmt.Seq withTidied(Stmt.Seq seq, UnaryOperator<Stmt> rewrite) {
    return rewritten(seq, inOrder(List.of(byThing.getOrDefault(UNTIDY, List.of()))), rewrite);
  }

  /** The sequence with those rewritten that may hold what is sought. */
  Stmt.Seq with(Stmt.Seq seq, List<Sought> sought, UnaryOperator<Stmt> rewrite) {
    List<List<Stmt>> some = new ArrayList<>();
    sought.forEach(each -> some.add(holders(each)));
    some.add(byThing.getOrDefault(UNKNOWN, List.of()));
    return rewritten(seq, inOrder(some), rewrite);
  }

  private List<Stmt> inOrder(List<List<Stmt>> some) {
    List<Stmt> all = new ArrayList<>();
    some.forEach(all::addAll);
    if (all.size() < 2) {
      return all;
    }
    // Nearly always two or three: it is their addresses that are compared.
    Set<Stmt> many = Collections.newSetFromMap(new IdentityHashMap<>());
    if (all.size() > FEW) {
      many.addAll(all);
    }
    List<Stmt> ordered = new ArrayList<>(all.size());
    for (Stmt s : stmts) {
      if (many.isEmpty() ? Tree.indexOn(all, s) >= 0 : many.contains(s)) {
        ordered.add(s);
      }
    }
    return ordered;
  }

  private static Stmt.Seq rewritten(Stmt.Seq seq, List<Stmt> some, UnaryOperator<Stmt> rewrite) {
    Stmt[] changed = null;
    for (Stmt s : some) {
      Stmt made = rewrite.apply(s);
      if (made != s) {
        changed = changed == null ? seq.stmts().toArray(new Stmt[0]) : changed;
        for (int at = 0; at < changed.length; at++) {
          changed[at] = changed[at] == s ? made : changed[at];
        }
      }
    }
    return changed == null ? seq : new Stmt.Seq(List.of(changed));
  }
}
