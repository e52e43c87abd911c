package dev.warpwright.jvm;

import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;

/** Which parts of a kernel become methods of their own. */
final class Nests {
  private static final int UNIT_HEIGHT = 2;

  private Nests() {}

  /**
   * Whether the statement is worth a method: a nest of at most two loops, or a local buffer (an
   * accumulator, which cannot cross a call) with loops around its uses.
   */
  static boolean isUnit(Stmt s) {
    if (hasParallel(s)) {
      return false;
    }
    return switch (s) {
      case Stmt.For f -> height(f) <= UNIT_HEIGHT && !hasLocal(f.body());
      case Stmt.Alloc a -> a.buffer().scope() == Scope.LOCAL && height(a.body()) > 0;
      default -> false;
    };
  }

  private static boolean hasParallel(Stmt s) {
    boolean[] found = {false};
    Walk.statements(s, t -> found[0] |= t instanceof Stmt.For f && f.kind() == ForKind.PARALLEL);
    return found[0];
  }

  private static boolean hasLocal(Stmt s) {
    boolean[] found = {false};
    Walk.statements(
        s,
        t ->
            found[0] |=
                t instanceof Stmt.Alloc a
                    && a.buffer().scope() == Scope.LOCAL
                    && height(a.body()) > 0);
    return found[0];
  }

  /** How many loops are nested. */
  static int height(Stmt s) {
    return switch (s) {
      case Stmt.For f -> 1 + height(f.body());
      case Stmt.While w -> 1 + height(w.body());
      case Stmt.Seq(var stmts) -> stmts.stream().mapToInt(Nests::height).max().orElse(0);
      case Stmt.If i ->
          Math.max(height(i.then()), i.otherwise() == null ? 0 : height(i.otherwise()));
      case Stmt.Let l -> height(l.body());
      case Stmt.Alloc a -> height(a.body());
      case Stmt.Store t -> 0;
      case Stmt.Evaluate t -> 0;
      case Stmt.Comment t -> 0;
      case Stmt.Block t -> height(t.body());
      case Stmt.TileCopy t -> 0;
      case Stmt.TileFill t -> 0;
      case Stmt.TileMma t -> 0;
      case Stmt.TileMap t -> 0;
      case Stmt.TileReduce t -> 0;
      case Stmt.Flow t -> 0;
    };
  }
}
