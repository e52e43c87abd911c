package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Stmt;
import java.lang.ref.SoftReference;
import java.util.AbstractList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/**
 * The loops and allocations that are around everything else in a program. In a deep network they
 * are thousands around each other, and each primitive asks a dozen times for the way to something
 * inside them: the first part of all those ways is this. A thread's own, of the programs that were
 * looked at last, and forgotten when memory is short.
 */
final class Spine {
  /** Shorter ones are gone through. */
  private static final int LONG = 32;

  /** Before and after, of what is outside and inside of a loop. */
  private static final int KEPT = 4;

  private static final ThreadLocal<SoftReference<Deque<Spine>>> KNOWN =
      ThreadLocal.withInitial(() -> new SoftReference<>(new ArrayDeque<>()));

  private final Stmt[] around;

  /** The buffer or the variable of each. */
  private final Object[] own;

  private final List<Stmt.For> loops = new ArrayList<>();

  private final Stmt inner;

  private Spine(List<Stmt> around, Stmt inner) {
    this.around = around.toArray(new Stmt[0]);
    this.inner = inner;
    this.own = new Object[this.around.length];
    for (int i = 0; i < own.length; i++) {
      if (this.around[i] instanceof Stmt.For loop) {
        loops.add(loop);
        own[i] = loop.var();
      } else {
        own[i] = ((Stmt.Alloc) this.around[i]).buffer();
      }
    }
  }

  /** That of a program; null if it is too short for this to be worth anything. */
  static @Nullable Spine of(Stmt root) {
    if (next(root) == null) {
      return null;
    }
    Deque<Spine> known = KNOWN.get().get();
    if (known == null) {
      known = new ArrayDeque<>();
      KNOWN.set(new SoftReference<>(known));
    }
    for (Spine one : known) {
      if (one.around[0] == root) {
        return one;
      }
    }
    List<Stmt> around = new ArrayList<>();
    Stmt inner = root;
    for (Stmt next = next(root); next != null; next = next(inner)) {
      around.add(inner);
      inner = next;
    }
    if (around.size() < LONG) {
      return null;
    }
    Spine spine = new Spine(around, inner);
    if (known.size() == KEPT) {
      known.removeLast();
    }
    known.addFirst(spine);
    return spine;
  }

  private static @Nullable Stmt next(Stmt s) {
    return s instanceof Stmt.Alloc alloc
        ? alloc.body()
        : s instanceof Stmt.For loop ? loop.body() : null;
  }

  /** What they are around. */
  Stmt inner() {
    return inner;
  }

  /** Where what is sought is, or is allocated, or is looped over; -1 if not here. */
  int indexOf(Sought sought) {
    if (sought.name() != null) {
      for (int i = 0; i < own.length; i++) {
        if (own[i] instanceof Buffer buffer && buffer.name().equals(sought.name())) {
          return i;
        }
      }
      return -1;
    }
    int at = indexIn(own, own.length, sought.thing());
    return at >= 0 ? at : indexIn(around, around.length, sought.thing());
  }

  private static int indexIn(Object[] all, int count, @Nullable Object one) {
    for (int i = 0; i < count; i++) {
      if (all[i] == one) {
        return i;
      }
    }
    return -1;
  }

  /** The one at an index. */
  Stmt get(int index) {
    return around[index];
  }

  /** The way to one of them. */
  List<Stmt> pathTo(int index) {
    return new Path(this, index + 1, List.of());
  }

  /** The way to something inside them, by the way from {@link #inner} to it. */
  List<Stmt> pathTo(List<Stmt> inside) {
    return new Path(this, around.length, inside);
  }

  /** A part of a spine and another list after it. */
  static final class Path extends AbstractList<Stmt> implements RandomAccess {
    private final Spine spine;
    private final int count;
    private final List<Stmt> rest;

    private Path(Spine spine, int count, List<Stmt> rest) {
      this.spine = spine;
      this.count = count;
      this.rest = rest;
    }

    @Override
    public Stmt get(int index) {
      return index < count ? spine.around[index] : rest.get(index - count);
    }

    /** The loops on it, outermost first. */
    List<Stmt.For> loops() {
      List<Stmt.For> all = new ArrayList<>();
      for (Stmt.For loop : spine.loops) {
        if (count == spine.around.length || indexIn(spine.around, count, loop) >= 0) {
          all.add(loop);
        }
      }
      all.addAll(Tree.loops(rest));
      return List.copyOf(all);
    }

    /** Where this very statement is; -1 if it is not. */
    int index(Stmt s) {
      int at = indexIn(spine.around, count, s);
      if (at >= 0) {
        return at;
      }
      int inRest = Tree.indexOn(rest, s);
      return inRest < 0 ? -1 : count + inRest;
    }

    /** How many statements two ways have in common, at least. */
    int shared(Path other) {
      return spine == other.spine ? Math.min(count, other.count) : 0;
    }

    @Override
    public int size() {
      return count + rest.size();
    }
  }
}
