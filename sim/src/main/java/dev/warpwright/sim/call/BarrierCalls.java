package dev.warpwright.sim.call;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.block.BlockRun;
import dev.warpwright.sim.block.Blocked;
import dev.warpwright.sim.block.MBarrier;
import dev.warpwright.sim.block.Warp;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.memory.Shadow;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;

/** Compiles operations on barrier objects in shared memory. */
final class BarrierCalls {
  private BarrierCalls() {}

  /** Compiles a call. */
  static WarpNode compile(UnitSite site) {
    TargetIntrinsic op = site.intrinsic();
    if (op == HopperIntrinsics.FENCE_MBARRIER_INIT) {
      return site.eachThread((w, lane, f) -> publish(w, f.warpLane));
    }
    UnitSite.BarrierOf barrier = site.barrierOf(0);
    if (op == HopperIntrinsics.MBARRIER_WAIT) {
      return barrierWait(site, barrier);
    }
    if (op == HopperIntrinsics.MBARRIER_ARRIVE) {
      return site.eachThread(
          (w, lane, f) -> barrier.get(w.block, f).arrive(f, w.actor, 0, site.where()));
    }
    LongExpr value = site.value(1);
    if (op == HopperIntrinsics.MBARRIER_INIT) {
      return site.eachThread(
          (w, lane, f) -> barrier.get(w.block, f).init(f, w.actor, value.eval(f), site.where()));
    }
    if (op == HopperIntrinsics.MBARRIER_ARRIVE_EXPECT_TX) {
      return site.eachThread(
          (w, lane, f) -> barrier.get(w.block, f).arrive(f, w.actor, value.eval(f), site.where()));
    }
    if (op == HopperIntrinsics.MBARRIER_ARRIVE_CLUSTER) {
      return site.eachThread(
          (w, lane, f) -> {
            BlockRun target = site.blockOfRank(w, f, value.eval(f));
            barrier.get(target, f).arrive(f, w.actor, 0, site.where());
          });
    }
    throw site.unknown();
  }

  private static void publish(Warp w, byte lane) {
    long epoch = w.actor.publishes(lane);
    w.block.unpublished.forEach(barrier -> barrier.publish(epoch));
    w.block.unpublished.clear();
  }

  private static WarpNode barrierWait(UnitSite site, UnitSite.BarrierOf barrier) {
    LongExpr parity = site.value(1);
    return WarpNode.stopping(
        (warp, mask) -> {
          site.calls().run(warp, mask);
          int n = Integer.bitCount(mask);
          MBarrier[] barriers = new MBarrier[n];
          long[] parities = new long[n];
          Frame[] frames = new Frame[n];
          int i = 0;
          for (int m = mask; m != 0; m &= m - 1) {
            Frame f = warp.lanes[Integer.numberOfTrailingZeros(m)];
            frames[i] = f;
            barriers[i] = barrier.get(warp.block, f);
            parities[i++] = parity.eval(f);
          }
          return w -> {
            for (int k = 0; k < n; k++) {
              barriers[k].requireInTime(frames[k], w.actor, parities[k], site.where());
              if (!barriers[k].isOver(parities[k])) {
                w.block(new BarrierWait(site.where(), barriers[k], parities[k]));
                return;
              }
            }
            w.changes++;
            w.pop();
            if (mask == w.fullMask() && isOne(barriers)) {
              barriers[0].acquire(w.actor, Shadow.WHOLE_WARP);
              return;
            }
            for (int k = 0; k < n; k++) {
              barriers[k].acquire(w.actor, frames[k].warpLane);
            }
          };
        });
  }

  private static boolean isOne(MBarrier[] barriers) {
    for (MBarrier barrier : barriers) {
      if (barrier != barriers[0]) {
        return false;
      }
    }
    return true;
  }

  private record BarrierWait(Stmt where, MBarrier barrier, long parity) implements Blocked {
    @Override
    public boolean isOver() {
      return barrier.isOver(parity);
    }

    @Override
    public String what() {
      return "parity " + parity + " of " + barrier.missing();
    }
  }
}
