package dev.warpwright.sim.call;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.block.Blocked;
import dev.warpwright.sim.block.RegisterPool;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.memory.Actor;
import dev.warpwright.sim.memory.Agents;
import dev.warpwright.sim.memory.Shadow;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;

/** Compiles calls of intrinsics that drive a unit of the chip beside the threads. */
public final class UnitCalls {
  private static final int MIN_REGISTERS = 24;
  private static final int MAX_REGISTERS = 256;

  private final Context context;

  private final WgmmaCalls products = new WgmmaCalls();

  public UnitCalls(Context context) {
    this.context = context;
  }

  public WarpNode compile(Stmt.Evaluate where, TargetIntrinsic intrinsic, WarpCalls calls) {
    UnitSite site = new UnitSite(context, where, intrinsic, calls);
    return switch (((TargetIntrinsic.Drives) intrinsic.effect()).unit()) {
      case MBARRIER -> BarrierCalls.compile(site);
      case BULK_COPY -> TmaCalls.compile(site);
      case WARPGROUP_MMA -> products.compile(site);
      case CLUSTER ->
          intrinsic == HopperIntrinsics.CLUSTER_STORE
              ? ClusterMemory.store(site)
              : clusterSync(site);
      case NAMED_BARRIER -> namedBarrier(site);
      case REGISTER_FILE -> registers(site);
      case PROXY -> fence(site);
      case LAUNCHES -> launches(site);
      // Their values are all there is to them, or time.
      case CLOCK, CACHE -> WarpNode.straight((w, mask) -> {});
      case COUNTER -> {
        WarpNode.Straight add = CounterCalls.add(where, calls);
        yield WarpNode.straight(
            (w, mask) -> {
              calls.run(w, mask);
              add.run(w, mask);
            });
      }
    };
  }

  private static WarpNode clusterSync(UnitSite site) {
    boolean relaxed = site.intrinsic() == HopperIntrinsics.CLUSTER_SYNC_RELAXED;
    return WarpNode.stopping(
        (warp, mask) -> {
          if (mask != warp.fullMask()) {
            throw WarpCalls.diverged(
                site.context(), warp, mask, site.where(), Finding.Kind.BARRIER);
          }
          return w -> {
            w.pop();
            w.changes++;
            w.waiting = site.where();
            w.waitingForCluster = true;
            w.meetsRelaxed = relaxed;
          };
        });
  }

  /**
   * The launches before have ended by the time the wait is over, and not before; what comes behind
   * this launch is not executed beside it.
   */
  private static WarpNode launches(UnitSite site) {
    boolean waits = site.intrinsic() == HopperIntrinsics.AWAIT_PREVIOUS;
    return WarpNode.straight(
        (w, mask) -> {
          w.changes++;
          if (waits && mask == w.fullMask()) {
            Agents.learnPrevious(w.actor, Shadow.WHOLE_WARP);
          }
          for (int m = waits ? mask : 0; m != 0; m &= m - 1) {
            Agents.learnPrevious(w.actor, (byte) Integer.numberOfTrailingZeros(m));
          }
        });
  }

  private static WarpNode namedBarrier(UnitSite site) {
    LongExpr id = site.value(0);
    LongExpr threads = site.value(1);
    return WarpNode.stopping(
        (warp, mask) -> {
          if (mask != warp.fullMask()) {
            throw WarpCalls.diverged(
                site.context(), warp, mask, site.where(), Finding.Kind.BARRIER);
          }
          site.calls().run(warp, mask);
          long number = id.eval(warp.lanes[0]);
          long count = threads.eval(warp.lanes[0]);
          return w -> {
            w.pop();
            w.block.named.arrive(w, number, count, site.where());
          };
        });
  }

  private static WarpNode registers(UnitSite site) {
    LongExpr count = site.value(0);
    boolean takes = site.intrinsic() == HopperIntrinsics.SETMAXNREG_INC;
    return WarpNode.stopping(
        (warp, mask) -> {
          site.requireWhole(warp, mask);
          Frame f = warp.lanes[0];
          int n = (int) count.eval(f);
          RegisterPool pool = warp.block.registers();
          if (pool == null) {
            throw site.misuse(f, "it is ignored unless the kernel says minBlocks");
          }
          if (n < MIN_REGISTERS || n > MAX_REGISTERS || n % 8 != 0) {
            throw site.misuse(f, n + " registers, possible are multiples of 8 from 24 to 256");
          }
          int now = pool.of(warp.index);
          if (takes ? now > n : now < n) {
            throw site.misuse(f, "the threads have " + now + " registers already");
          }
          return w -> {
            if (pool.suffices(w.index, n)) {
              w.changes++;
              w.pop();
              pool.set(w.index, n);
            } else {
              w.block(new RegisterWait(site.where(), pool, w.index, n));
            }
          };
        });
  }

  private record RegisterWait(Stmt where, RegisterPool pool, int warp, int count)
      implements Blocked {
    @Override
    public boolean isOver() {
      return pool.suffices(warp, count);
    }

    @Override
    public String what() {
      return count
          + " registers for each thread, which has "
          + pool.of(warp)
          + " (at entry "
          + pool.entry()
          + "); the pool has "
          + pool.free()
          + " left";
    }
  }

  private static WarpNode fence(UnitSite site) {
    Actor.Fence kind =
        site.intrinsic() == HopperIntrinsics.FENCE_PROXY_ASYNC
            ? Actor.Fence.SHARED
            : Actor.Fence.GLOBAL;
    return WarpNode.straight(
        (w, mask) -> {
          w.changes++;
          w.actor.fence(kind, mask);
        });
  }
}
