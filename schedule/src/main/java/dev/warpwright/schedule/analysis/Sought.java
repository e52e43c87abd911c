package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What is looked for in a program: a buffer, a loop or a very statement, or what has a name. It
 * says where it need not be looked for.
 *
 * @param thing that has identity; null if a name is sought
 */
record Sought(@Nullable Object thing, @Nullable String name) {
  /** A buffer in any mention. */
  static Sought of(Buffer buffer) {
    return new Sought(buffer, null);
  }

  /** A loop over a variable. */
  static Sought loop(Var variable) {
    return new Sought(variable, null);
  }

  static Sought of(Stmt s) {
    return new Sought(s, null);
  }

  /** A block or an allocated buffer. */
  static Sought name(String name) {
    return new Sought(null, name);
  }

  /** Whether it may be in a statement, or be it. */
  boolean mayBeIn(Stmt s) {
    Contents contents = Contents.ofNest(s);
    return contents.isUnknown()
        || (name != null ? contents.names().contains(name) : contents.things().contains(thing));
  }

  /** The children of a statement in which it may be. */
  List<Stmt> children(Stmt s) {
    LongSequence sequence = s instanceof Stmt.Seq seq ? LongSequence.of(seq) : null;
    return sequence == null ? Tree.children(s) : sequence.holding(this);
  }

  /**
   * A long sequence with only those statements rewritten in which one of these may be; null if it
   * is none.
   */
  static @Nullable Stmt rewritten(Stmt s, List<Sought> sought, UnaryOperator<Stmt> rewrite) {
    if (!(s instanceof Stmt.Seq seq)) {
      return null;
    }
    LongSequence sequence = LongSequence.of(seq);
    return sequence == null ? null : sequence.with(seq, sought, rewrite);
  }
}
