package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.visit.Rewriter;

/** Rebuilds statements only: expressions stay, and are not searched. */
public class StmtRewriter extends Rewriter {
  @Override
  public Expr expr(Expr e) {
    return e;
  }

  @Override
  public Region region(Region region) {
    return region;
  }
}
