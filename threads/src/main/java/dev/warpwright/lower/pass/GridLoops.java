package dev.warpwright.lower.pass;

import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;

/** Loops bound to block indices, which become the grid of a kernel. */
public final class GridLoops {
  private GridLoops() {}

  /**
   * {@return whether a statement is a bound loop}
   *
   * @param s any statement
   */
  public static boolean is(Stmt s) {
    return s instanceof Stmt.For f && f.kind() == ForKind.THREAD_BOUND && f.axis() != null;
  }

  /**
   * {@return the binding of such a loop}
   *
   * @param f of which {@link #is} is true
   * @throws LoweringException if it is bound to threads, or does not count from 0
   */
  public static ThreadBinding binding(Stmt.For f) {
    ThreadAxis axis = f.axis();
    if (axis == null || !axis.isBlock() || !Exprs.isConst(f.min(), 0)) {
      throw new LoweringException(
          "loop "
              + f.var()
              + " is bound to "
              + (axis == null ? "nothing" : axis.text())
              + " from "
              + f.min()
              + ", not to blocks from 0");
    }
    return new ThreadBinding(axis, f.var(), f.extent());
  }
}
