package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Stmt;
import java.util.ArrayList;
import java.util.List;

/** The loops that are around one leaf alone. */
public final class Nest {
  private Nest() {}

  /** The outermost of the loops around the end of a path that contain nothing else, or the end. */
  public static Stmt of(List<Stmt> path) {
    List<Stmt.For> loops = loops(path);
    return loops.isEmpty() ? path.getLast() : loops.getFirst();
  }

  /** Those loops, outermost first. */
  public static List<Stmt.For> loops(List<Stmt> path) {
    List<Stmt.For> loops = new ArrayList<>();
    for (int i = path.size() - 2; i >= 0; i--) {
      if (!(path.get(i) instanceof Stmt.For loop && loop.body() == path.get(i + 1))) {
        break;
      }
      loops.addFirst(loop);
    }
    return loops;
  }
}
