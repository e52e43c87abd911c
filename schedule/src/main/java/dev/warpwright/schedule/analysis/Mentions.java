package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Rewriter;
import java.util.HashSet;
import java.util.Set;

/** The buffers that leaves mention in any way: what mentions none need not be rebuilt for one. */
public final class Mentions {
  private static final LeafFacts<Set<Buffer>> FACTS = new LeafFacts<>();

  private Mentions() {}

  /** Whether a statement is a leaf, with all inside it, in which the buffer does not occur. */
  public static boolean isLeafWithout(Stmt s, Buffer buffer) {
    return switch (s) {
      case Stmt.Seq none -> false;
      case Stmt.For none -> false;
      case Stmt.While none -> false;
      case Stmt.If none -> false;
      case Stmt.Let none -> false;
      case Stmt.Alloc none -> false;
      case Stmt.Flow none -> false;
      case Stmt.Comment leaf -> true;
      case Stmt.Store leaf -> isWithout(leaf, buffer);
      case Stmt.Evaluate leaf -> isWithout(leaf, buffer);
      case Stmt.Block leaf -> isWithout(leaf, buffer);
      case Stmt.TileCopy leaf -> isWithout(leaf, buffer);
      case Stmt.TileFill leaf -> isWithout(leaf, buffer);
      case Stmt.TileMma leaf -> isWithout(leaf, buffer);
      case Stmt.TileMap leaf -> isWithout(leaf, buffer);
      case Stmt.TileReduce leaf -> isWithout(leaf, buffer);
    };
  }

  private static boolean isWithout(Stmt leaf, Buffer buffer) {
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
