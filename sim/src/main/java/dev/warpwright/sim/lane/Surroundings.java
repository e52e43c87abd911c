package dev.warpwright.sim.lane;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.expr.Exec;

/** What compiles the rest of a kernel, around and inside its straight parts. */
public interface Surroundings {
  /** A call in which no warp stops. */
  WarpNode.Straight call(Stmt.Evaluate e);

  /** Remembers a shared buffer; others are of no interest. */
  void declareShared(Buffer buffer);

  /** Storage that a thread gets anew. */
  Exec allocation(Buffer buffer);
}
