package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Stmt;
import java.lang.ref.SoftReference;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * What is known of leaves, by themselves. Every primitive asks about the whole program, and leaves
 * most of it as it is, the very same statements: of a network of n layers all formulas would be
 * searched n times otherwise. A thread's own, so that nobody waits, and forgotten when memory is
 * short.
 */
final class LeafFacts<T> {
  private static final int MOST = 1 << 15;

  private final ThreadLocal<SoftReference<Map<Stmt, T>>> facts =
      ThreadLocal.withInitial(() -> new SoftReference<>(new IdentityHashMap<>()));

  /** What {@code find} says of this very statement, which it is asked once. */
  T of(Stmt leaf, Function<Stmt, T> find) {
    Map<Stmt, T> known = facts.get().get();
    if (known == null || known.size() >= MOST) {
      known = new IdentityHashMap<>();
      facts.set(new SoftReference<>(known));
    }
    T fact = known.get(leaf);
    if (fact == null) {
      fact = find.apply(leaf);
      known.put(leaf, fact);
    }
    return fact;
  }
}
