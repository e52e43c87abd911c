package dev.warpwright.sim.block;

import dev.warpwright.sim.expr.LongExpr;

/** How often each lane goes round a loop. */
public final class Trips {
  private final long[] first = new long[32];
  private final long[] count = new long[32];
  private long done;

  public Trips(Warp w, int mask, LongExpr min, LongExpr extent) {
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      first[lane] = min.eval(w.lanes[lane]);
      count[lane] = extent.eval(w.lanes[lane]);
    }
  }

  /** Sets the variable for the lanes that go round once more, and gives them. */
  public int next(Warp w, int mask, int slot) {
    int active = 0;
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      if (done < count[lane]) {
        active |= 1 << lane;
        w.lanes[lane].ints[slot] = first[lane] + done;
      }
    }
    done++;
    return active;
  }
}
