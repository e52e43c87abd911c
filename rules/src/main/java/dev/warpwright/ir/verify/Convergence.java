package dev.warpwright.ir.verify;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Simplifier;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Whether threads that belong together certainly differ in a condition. Only what depends on thread
 * indices in the open is judged; values from memory are left to the simulator.
 */
final class Convergence {
  private static final int WARP = 32;
  private static final int WARPGROUP = 128;

  private final Kernel kernel;

  Convergence(Kernel kernel) {
    this.kernel = kernel;
  }

  boolean parts(Intrinsic intrinsic, Place.Parting parting, Place place) {
    Expr open = withoutLets(parting.condition(), place);
    Bounds bounds = parting.before();
    if (!readsNoMemory(open)) {
      return false;
    }
    return switch (intrinsic.collective()) {
      case THREAD -> false;
      case WARP -> differs(open, bounds, WARP);
      case WARPGROUP -> differs(open, bounds, WARPGROUP);
      // A barrier with operands counts the threads that take part.
      case BLOCK -> intrinsic.operands().isEmpty() && differs(open, bounds, Integer.MAX_VALUE);
    };
  }

  private static Expr withoutLets(Expr e, Place place) {
    Expr open = e;
    for (int i = 0; i <= place.lets().size(); i++) {
      Expr next = Substitution.ofVars(place.lets()).expr(open);
      if (next == open) {
        break;
      }
      open = next;
    }
    return open;
  }

  private static boolean readsNoMemory(Expr e) {
    boolean[] pure = {true};
    Walk.expressions(
        e,
        node -> {
          boolean intrinsic = node instanceof Expr.Call c && c.op() instanceof Intrinsic;
          pure[0] &= !(node instanceof Expr.Load) && !intrinsic;
        });
    return pure[0];
  }

  /**
   * Whether the value depends on the place of a thread in its group. The index x is written as
   * {@code group · size + lane}; where the lane does not vanish, lanes differ. The indices y and z
   * are the same in a group if whole groups fit into a row.
   */
  private boolean differs(Expr condition, Bounds before, int size) {
    List<Var> different = new ArrayList<>();
    Map<Var, Expr> split = new HashMap<>();
    Bounds bounds = before;
    long row = constantExtent(ThreadAxis.THREAD_X);
    boolean oneRow =
        constantExtent(ThreadAxis.THREAD_Y) == 1 && constantExtent(ThreadAxis.THREAD_Z) == 1;
    for (ThreadBinding binding : kernel.bindings()) {
      if (binding.axis().isBlock()) {
        continue;
      }
      boolean x = binding.axis() == ThreadAxis.THREAD_X;
      if (size == Integer.MAX_VALUE) {
        different.add(binding.var());
      } else if (row % size != 0 && !oneRow) {
        // Groups span rows: not judged.
        return false;
      } else if (x) {
        Var group = Var.index("group");
        Var lane = Var.index("lane");
        split.put(binding.var(), Exprs.add(Exprs.mul(group, size), lane));
        different.add(lane);
        bounds =
            bounds
                .withRange(group, Exprs.i32(0), Exprs.i32(Math.ceilDiv(row, size)))
                .withRange(lane, Exprs.i32(0), Exprs.i32(size));
      }
    }
    // Simplified before too: the last group may not be whole, which the halves do not know.
    Expr simple = new Simplifier(before).expr(condition);
    simple = new Simplifier(bounds).expr(Substitution.ofVars(split).expr(simple));
    return Affine.mentions(simple, different);
  }

  private long constantExtent(ThreadAxis axis) {
    return kernel.extent(axis) instanceof Expr.IntImm imm ? imm.value() : 0;
  }
}
