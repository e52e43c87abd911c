package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Rewriter;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The buffers that statements mention in any way: what mentions none need not be rebuilt. */
public final class Mentions {
  private static final LeafFacts<Set<Buffer>> FACTS = new LeafFacts<>();

  private Mentions() {}

  /**
   * Whether a statement, with all inside it, is known not to mention the buffer: of leaves and
   * small loop nests that is known.
   */
  public static boolean isWithout(Stmt s, Buffer buffer) {
    return switch (s) {
      case Stmt.Seq none -> false;
      case Stmt.For nest -> !Sought.of(buffer).mayBeIn(nest);
      case Stmt.While none -> false;
      case Stmt.If none -> false;
      case Stmt.Let none -> false;
      case Stmt.Alloc none -> false;
      case Stmt.Flow none -> false;
      case Stmt.Comment leaf -> true;
      case Stmt.Store leaf -> isLeafWithout(leaf, buffer);
      case Stmt.Evaluate leaf -> isLeafWithout(leaf, buffer);
      case Stmt.Block leaf -> isLeafWithout(leaf, buffer);
      case Stmt.TileCopy leaf -> isLeafWithout(leaf, buffer);
      case Stmt.TileFill leaf -> isLeafWithout(leaf, buffer);
      case Stmt.TileMma leaf -> isLeafWithout(leaf, buffer);
      case Stmt.TileMap leaf -> isLeafWithout(leaf, buffer);
      case Stmt.TileReduce leaf -> isLeafWithout(leaf, buffer);
    };
  }

  /**
   * An allocation with what is inside it rewritten, of other buffers as they are; null if it is of
   * this buffer, or no allocation.
   */
  public static @Nullable Stmt inside(Stmt s, Buffer buffer, UnaryOperator<Stmt> rewrite) {
    return s instanceof Stmt.Alloc alloc && alloc.buffer() != buffer
        ? Tree.inside(alloc, x -> x instanceof Stmt.Alloc own && own.buffer() == buffer, rewrite)
        : null;
  }

  /**
   * A long sequence with only those statements rewritten that may mention a buffer; null if it is
   * none.
   */
  public static @Nullable Stmt rewritten(Stmt s, Buffer buffer, UnaryOperator<Stmt> rewrite) {
    return Sought.rewritten(s, List.of(Sought.of(buffer)), rewrite);
  }

  private static boolean isLeafWithout(Stmt leaf, Buffer buffer) {
    return !FACTS.of(leaf, Mentions::of).contains(buffer);
  }

  private static Set<Buffer> of(Stmt leaf) {
    Set<Buffer> mentioned = new HashSet<>();
    new Rewriter() {
      @Override
      protected Buffer buffer(Buffer buffer) {
        mentioned.add(buffer);
        return buffer;
      }
    }.stmt(leaf);
    return mentioned;
  }
}
