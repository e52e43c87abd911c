package dev.warpwright.sim.call;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.block.BlockRun;
import dev.warpwright.sim.block.MBarrier;
import dev.warpwright.sim.block.Warp;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.List;

/** One call, under compilation, of an intrinsic that drives a unit beside the threads. */
record UnitSite(Context context, Stmt.Evaluate where, TargetIntrinsic intrinsic, WarpCalls calls) {
  /** Something that one thread does. */
  interface ThreadAction {
    void run(Warp w, int lane, Frame f);
  }

  /** Something that a whole warp does. */
  interface WarpAction {
    void run(Warp w);
  }

  /** The barrier that an address means for a thread, in a block of its cluster. */
  interface BarrierOf {
    MBarrier get(BlockRun block, Frame f);
  }

  Expr arg(int i) {
    return where.call().args().get(i);
  }

  Expr.AddressOf address(int i) {
    return (Expr.AddressOf) arg(i);
  }

  LongExpr value(int i) {
    return calls.exprs().integer(arg(i));
  }

  int constant(int i) {
    return (int) ((Expr.IntImm) arg(i)).value();
  }

  WarpNode eachThread(ThreadAction action) {
    return WarpNode.straight(
        (w, mask) -> {
          w.changes++;
          calls.run(w, mask);
          for (int m = mask; m != 0; m &= m - 1) {
            int lane = Integer.numberOfTrailingZeros(m);
            action.run(w, lane, w.lanes[lane]);
          }
        });
  }

  WarpNode wholeWarp(WarpAction action) {
    return WarpNode.straight(
        (w, mask) -> {
          requireWhole(w, mask);
          w.changes++;
          calls.run(w, mask);
          action.run(w);
        });
  }

  void requireWhole(Warp w, int mask) {
    if (mask != w.fullMask() || w.lanes.length != 32) {
      throw WarpCalls.diverged(context, w, mask, where, Finding.Kind.INTRINSIC);
    }
  }

  SimulationError misuse(Frame f, String detail) {
    return context.fault(Finding.Kind.INTRINSIC, where, f, "", detail);
  }

  IllegalArgumentException unknown() {
    return new IllegalArgumentException("the simulator does not know " + intrinsic.text());
  }

  BarrierOf barrierOf(int arg) {
    Expr.AddressOf address = address(arg);
    MemoryAccess access = new MemoryAccess(calls.exprs(), address.buffer(), address.indices());
    LongExpr offset = access.offset();
    int slot = access.slot();
    return (block, f) -> block.barrier(slot, (int) offset.eval(f));
  }

  BlockRun blockOfRank(Warp w, Frame f, long rank) {
    List<BlockRun> blocks = w.block.in.blocks;
    if (rank < 0 || rank >= blocks.size()) {
      throw misuse(f, "the cluster has no block " + rank + ", only " + blocks.size());
    }
    return blocks.get((int) rank);
  }
}
