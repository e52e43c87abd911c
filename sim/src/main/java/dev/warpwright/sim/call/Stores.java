package dev.warpwright.sim.call;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.DoubleExpr;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.memory.Bytes;
import java.util.Arrays;

/** Compiles stores of a grid kernel to closures: all lanes evaluate before one of them writes. */
public final class Stores {
  private Stores() {}

  /**
   * Compiles a store.
   *
   * @param watched whether a loop around it goes round until something changes
   */
  public static WarpNode compile(Context context, Stmt.Store store, boolean watched) {
    WarpCalls calls = new WarpCalls(context, store);
    ExprCompiler exprs = calls.exprs();
    MemoryAccess access = new MemoryAccess(exprs, store.buffer(), store.indices());
    LongExpr at = access.writeOffset();
    int lanes = access.lanes();
    int slot = access.slot();
    DType stored = access.stored();
    int bytes = stored.bytes();
    Exec evaluate;
    Exec write;
    if (stored.isFloat()) {
      DoubleExpr value = exprs.real(store.value());
      evaluate = vector(lanes, f -> f.pendingReals[f.lane] = value.eval(f));
      write =
          vector(
              lanes,
              f ->
                  Bytes.putReal(
                      stored, f.memory[slot], (int) at.eval(f) * bytes, f.pendingReals[f.lane]));
    } else {
      LongExpr value = exprs.integer(store.value());
      evaluate = vector(lanes, f -> f.pendingInts[f.lane] = value.eval(f));
      write =
          vector(
              lanes,
              f ->
                  Bytes.putInteger(
                      stored, f.memory[slot], (int) at.eval(f) * bytes, f.pendingInts[f.lane]));
    }
    if (watched) {
      Exec plain = write;
      LongExpr offset = access.offset();
      return WarpNode.straight(
          (w, mask) -> {
            calls.run(w, mask);
            w.each(mask, evaluate);
            w.each(
                mask,
                f -> {
                  int first = (int) offset.eval(f) * bytes;
                  byte[] before = Arrays.copyOfRange(f.memory[slot], first, first + bytes * lanes);
                  plain.run(f);
                  if (!Arrays.equals(
                      before, 0, before.length, f.memory[slot], first, first + before.length)) {
                    w.changes++;
                  }
                });
          });
    }
    int multiplyAdds = context.counts() ? multiplyAdds(store) : 0;
    return WarpNode.straight(
        (w, mask) -> {
          calls.run(w, mask);
          w.each(mask, evaluate);
          w.each(mask, write);
          if (multiplyAdds != 0 && w.requests != null) {
            w.requests.counting().multiplyAdds((long) multiplyAdds * Integer.bitCount(mask));
          }
        });
  }

  /** Fused multiply-adds of a thread that executes the statement. */
  public static int multiplyAdds(Stmt.Store store) {
    int[] count = {0};
    Walk.expressions(
        store.value(),
        e -> {
          if (e instanceof Expr.Call call && call.op() == MathOp.FMA) {
            count[0] += call.type().lanes();
          }
        });
    return count[0];
  }

  private static Exec vector(int lanes, Exec one) {
    return lanes == 1
        ? one
        : f -> {
          for (f.lane = 0; f.lane < lanes; f.lane++) {
            one.run(f);
          }
          f.lane = 0;
        };
  }
}
