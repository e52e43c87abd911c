package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.LinearForm;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What one leaf statement reads or writes in one execution, in terms of the loops around it.
 *
 * @param leaf a block, a store or a tile statement
 * @param region the elements; bounds are expressions of loop variables, not of a block's
 * @param inner the loops between the statement whose accesses were asked for and the leaf, and the
 *     box of the leaf where it has one; outermost first
 */
public record Access(Stmt leaf, Region region, boolean isWrite, List<Iteration> inner) {
  public Access {
    inner = List.copyOf(inner);
  }

  public Buffer buffer() {
    return region.buffer();
  }

  /** First index of a dimension. */
  public LinearForm min(int dimension, Ranges ranges) {
    return Forms.of(region.ranges().get(dimension).min(), ranges);
  }

  /** Number of indices of a dimension. */
  public Expr extent(int dimension) {
    return region.ranges().get(dimension).extent();
  }

  /** The variables of the inner loops. */
  public Set<Var> innerVars() {
    Set<Var> vars = new HashSet<>();
    inner.forEach(iteration -> vars.add(iteration.variable()));
    return vars;
  }
}
