package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Rewriter;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * What occurs in a small loop nest. Primitives look for a loop, a block or the accesses to a buffer
 * in the whole program, and what they look for is in a few of its nests: the others need not be
 * entered. Each is looked through once, as long as it stays the very same statement; what a
 * primitive makes anew are its nests and what is around them. Loops around a whole program are too
 * large to be worth it, and may hold anything.
 */
final class Contents {
  /** Statements of a nest, of which no more are looked at. */
  private static final int MOST = 64;

  private static final LeafFacts<Contents> FACTS = new LeafFacts<>();

  /** That nothing is known of. */
  private static final Contents ANYTHING = new Contents();

  private final Set<Object> things = Collections.newSetFromMap(new IdentityHashMap<>());

  private final Set<String> names = new HashSet<>();

  private boolean parallel;
  private boolean tidy;

  private Contents() {}

  /** What occurs in a statement. */
  static Contents ofAny(Stmt s) {
    return FACTS.of(s, Contents::find);
  }

  /** The same, but of loops only: to look at other statements is as quick as to look this up. */
  static Contents ofNest(Stmt s) {
    return s instanceof Stmt.For ? ofAny(s) : ANYTHING;
  }

  /** Whether anything may occur in it. */
  boolean isUnknown() {
    return this == ANYTHING;
  }

  /** Buffers that are mentioned in any way, variables of loops, statements: by identity. */
  Set<Object> things() {
    return things;
  }

  /** Names of blocks, and of buffers that are allocated. */
  Set<String> names() {
    return names;
  }

  /** Whether it may be or have a loop whose iterations are not one after the other. */
  boolean mayBeParallel() {
    return isUnknown() || parallel;
  }

  /** Whether {@link Tree#tidy} is known to leave it as it is. */
  boolean isTidy() {
    return tidy;
  }

  private static Contents find(Stmt nest) {
    if (left(nest, MOST) <= 0) {
      return ANYTHING;
    }
    Contents found = new Contents();
    new Rewriter() {
      @Override
      protected Buffer buffer(Buffer buffer) {
        found.things.add(buffer);
        return buffer;
      }

      @Override
      public Stmt stmt(Stmt s) {
        found.add(s);
        return super.stmt(s);
      }
    }.stmt(nest);
    found.tidy = Tree.tidied(nest, false) == nest;
    return found;
  }

  private void add(Stmt s) {
    things.add(s);
    if (s instanceof Stmt.For loop) {
      things.add(loop.var());
      parallel |= loop.kind() != ForKind.SERIAL && loop.kind() != ForKind.UNROLLED;
    } else if (s instanceof Stmt.Block block) {
      names.add(block.name());
    } else if (s instanceof Stmt.Alloc alloc) {
      names.add(alloc.buffer().name());
    }
  }

  /** What is left of a number of statements without those of a statement, if any is left. */
  private static int left(Stmt s, int most) {
    int left = most - 1;
    for (Stmt child : Tree.children(s)) {
      if (left <= 0) {
        return left;
      }
      left = left(child, left);
    }
    return left;
  }
}
