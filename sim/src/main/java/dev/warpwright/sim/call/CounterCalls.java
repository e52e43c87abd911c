package dev.warpwright.sim.call;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.Clock;
import dev.warpwright.target.intrinsic.CounterIntrinsics;

/**
 * Compiles operations on counters in global memory, which order the accesses of blocks: who adds
 * with release lets know what it knows, who reads with acquire learns what was let known.
 */
final class CounterCalls {
  private CounterCalls() {}

  /** An addition that gives no value. */
  static WarpNode.Straight add(Stmt.Evaluate where, WarpCalls calls) {
    return operation(where.call(), calls, (f, bits) -> {});
  }

  /** An operation, done by each lane for itself, one after the other. */
  static WarpNode.Straight operation(
      Expr.Call call, WarpCalls calls, IntrinsicCall.ResultSink sink) {
    Expr.AddressOf address = (Expr.AddressOf) call.args().getFirst();
    MemoryAccess access = new MemoryAccess(calls.exprs(), address.buffer(), address.indices());
    LongExpr offset = access.offset();
    int slot = access.slot();
    boolean loads = call.op() == CounterIntrinsics.LOAD_ACQUIRE;
    boolean relaxed = call.op() == CounterIntrinsics.ATOMIC_ADD_RELAXED;
    boolean acquires = call.op() != CounterIntrinsics.RED_RELEASE && !relaxed;
    LongExpr value = loads ? f -> 0 : calls.exprs().integer(call.args().get(1));
    return (w, mask) -> {
      for (int m = mask; m != 0; m &= m - 1) {
        Frame f = w.lanes[Integer.numberOfTrailingZeros(m)];
        int element = (int) offset.eval(f);
        Clock released = w.block.in.counters.at(slot, element);
        if (acquires) {
          w.actor.acquire(f.warpLane, released);
        }
        int old = Bytes.getInt(f.memory[slot], 4 * element);
        if (!loads) {
          int added = (int) value.eval(f);
          w.changes += added == 0 ? 0 : 1;
          Bytes.putInt(f.memory[slot], 4 * element, old + added);
          if (!relaxed) {
            w.actor.release(f.warpLane, released);
          }
        }
        sink.set(f, old & 0xFFFF_FFFFL);
      }
    };
  }
}
