package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Stmt;
import java.util.List;

/** Rebuilds statements only around some that are given: what has none of them stays unvisited. */
public class SpotRewriter extends StmtRewriter {
  private final List<Sought> spots;

  protected SpotRewriter(Stmt... spots) {
    this.spots = List.of(spots).stream().map(Sought::of).toList();
  }

  private boolean isSpot(Stmt s) {
    for (Sought spot : spots) {
      if (spot.thing() == s) {
        return true;
      }
    }
    return false;
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (spots.stream().noneMatch(spot -> spot.mayBeIn(s))) {
      return s;
    }
    if (s instanceof Stmt.Alloc alloc) {
      return Tree.inside(alloc, this::isSpot, this::stmt);
    }
    Stmt sequence = Sought.rewritten(s, spots, this::stmt);
    return sequence != null ? sequence : super.stmt(s);
  }
}
