package dev.warpwright.lower.simt;

import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.visit.Substitution;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Nests of threads that are made one, because nothing has to happen between them. */
final class Nests {
  private Nests() {}

  /**
   * Statements over the same threads as one nest; what is in no nest goes along.
   *
   * @param stmts independent of each other, or each thread of its own
   */
  static Stmt merge(List<Stmt> stmts) {
    Stmt.For first = null;
    for (Stmt s : stmts) {
      if (first == null && s instanceof Stmt.For loop && isBound(loop)) {
        first = loop;
      }
    }
    if (first == null || first.axis() == null) {
      return Stmts.seq(stmts);
    }
    ThreadAxis axis = first.axis();
    List<Stmt> bodies = new ArrayList<>();
    for (Stmt s : stmts) {
      if (!(s instanceof Stmt.For loop) || !isBound(loop)) {
        bodies.add(s);
      } else if (loop.axis() == axis && loop.extent().equals(first.extent())) {
        bodies.add(Substitution.ofVars(Map.of(loop.var(), first.var())).stmt(loop.body()));
      } else {
        return Stmts.seq(stmts);
      }
    }
    return first.withBody(merge(bodies));
  }

  private static boolean isBound(Stmt.For loop) {
    return loop.kind() == ForKind.THREAD_BOUND;
  }
}
