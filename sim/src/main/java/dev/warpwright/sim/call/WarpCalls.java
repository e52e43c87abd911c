package dev.warpwright.sim.call;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IntegerMath;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.block.BlockRun;
import dev.warpwright.sim.block.Warp;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.expr.CallCompiler;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.DoubleExpr;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.ExprCode;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import dev.warpwright.target.intrinsic.Work;
import java.util.ArrayList;
import java.util.List;

/**
 * Compiles the expressions of one statement of a grid kernel. Calls that a warp executes together
 * are taken out of the expressions: {@link #run} executes them, before the statement, and keeps
 * their results in slots.
 */
public final class WarpCalls implements CallCompiler {
  private static final int WARP = 32;

  private final Context context;
  private final Stmt where;
  private final ExprCompiler exprs;
  private final List<WarpNode.Straight> hoisted = new ArrayList<>();

  public WarpCalls(Context context, Stmt where) {
    this.context = context;
    this.where = where;
    ExprCode code = context.code();
    this.exprs = code == null ? new ExprCompiler(context, where, this) : code.exprs(where, this);
  }

  public ExprCompiler exprs() {
    return exprs;
  }

  /** Whether calls were taken out so far. */
  public boolean hasHoisted() {
    return !hoisted.isEmpty();
  }

  /** Executes the calls that were taken out, innermost first. */
  public void run(Warp w, int mask) {
    for (WarpNode.Straight call : hoisted) {
      call.run(w, mask);
    }
  }

  @Override
  public LongExpr integer(Expr.Call call) {
    int slot = context.symbols().slot(new Var("result", call.type()));
    DType dtype = call.type().dtype();
    Exec single = value(call, (f, bits) -> f.ints[slot] = IntegerMath.wrap(dtype, bits));
    return f -> {
      single.run(f);
      return f.ints[slot];
    };
  }

  @Override
  public DoubleExpr real(Expr.Call call) {
    int slot = context.symbols().slot(new Var("result", call.type()));
    DType dtype = call.type().dtype();
    Exec single = value(call, (f, bits) -> f.floats[slot] = Bytes.bitsToReal(dtype, bits));
    return f -> {
      single.run(f);
      return f.floats[slot];
    };
  }

  /** What a thread does for the value itself; nothing if its warp does it together. */
  private Exec value(Expr.Call call, IntrinsicCall.ResultSink sink) {
    if (call.op() == HopperIntrinsics.CLUSTER_RANK) {
      return f -> sink.set(f, BlockRun.of(f).rank);
    }
    if (call.op() == HopperIntrinsics.CLUSTER_LOAD) {
      return ClusterMemory.load(call, this, sink);
    }
    if (call.op() == Intrinsics.SM_ID) {
      return f -> sink.set(f, BlockRun.of(f).sm());
    }
    if (call.op() == Intrinsics.GLOBAL_TIMER) {
      return f -> sink.set(f, BlockRun.of(f).in.turns.now());
    }
    if (call.op() instanceof TargetIntrinsic counter
        && counter.effect() instanceof TargetIntrinsic.Drives(var unit)
        && unit == TargetIntrinsic.Unit.COUNTER) {
      hoisted.add(CounterCalls.operation(call, this, sink));
      return f -> {};
    }
    if (!(call.op() instanceof TargetIntrinsic intrinsic)
        || !(intrinsic.effect() instanceof TargetIntrinsic.Computes computes)) {
      throw new IllegalArgumentException(
          context.source().name()
              + ": "
              + call.op().text()
              + " gives no value in '"
              + context.source().excerpt(where)
              + "'");
    }
    if (intrinsic.collective() == Intrinsic.Collective.THREAD) {
      IntrinsicCall compiled = new IntrinsicCall(exprs, intrinsic, computes, call.args());
      return f -> compiled.prepare(new Frame[] {f}, 1, sink).execute();
    }
    hoisted.add(call(intrinsic, computes, call.args(), sink));
    return f -> {};
  }

  /** A call as its collective executes it. */
  public WarpNode.Straight call(
      TargetIntrinsic intrinsic,
      TargetIntrinsic.Computes computes,
      List<Expr> args,
      IntrinsicCall.ResultSink sink) {
    IntrinsicCall compiled = new IntrinsicCall(exprs, intrinsic, computes, args);
    return switch (intrinsic.collective()) {
      case THREAD ->
          computes.work() instanceof Work.AsynchronousCopy
              ? (w, mask) -> startCopies(compiled, w, mask)
              : (w, mask) -> compiled.prepare(w.lanes, mask, sink).execute();
      case WARP ->
          (w, mask) -> {
            if (mask != w.fullMask() || w.lanes.length != WARP) {
              throw diverged(context, w, mask, where, Finding.Kind.INTRINSIC);
            }
            compiled.prepare(w.lanes, mask, sink).execute();
          };
      case WARPGROUP, BLOCK ->
          throw new IllegalArgumentException(
              context.source().name()
                  + ": the simulator does not execute "
                  + intrinsic.text()
                  + ", which is collective over a "
                  + (intrinsic.collective() == Intrinsic.Collective.BLOCK ? "block" : "warpgroup"));
    };
  }

  private static void startCopies(IntrinsicCall compiled, Warp w, int mask) {
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      IntrinsicCall.Prepared copy =
          compiled.prepare(new Frame[] {w.lanes[lane]}, 1, (f, bits) -> {});
      copy.beginWrites();
      w.copies[lane].add(copy::execute);
    }
  }

  /** The error of a warp that is not all here. */
  public static SimulationError diverged(
      Context context, Warp w, int mask, Stmt where, Finding.Kind kind) {
    Frame first = w.lanes[Integer.numberOfTrailingZeros(mask)];
    return context.fault(
        kind,
        where,
        first,
        "",
        "only lanes "
            + lanes(mask)
            + " of warp "
            + w.index
            + " get here"
            + (w.lanes.length < WARP ? ", which has " + w.lanes.length + " threads" : ""));
  }

  /** A mask as ranges, for example {@code 0-3, 7}. */
  static String lanes(int mask) {
    StringBuilder text = new StringBuilder();
    for (int lane = 0; lane < WARP; lane++) {
      if ((mask >>> lane & 1) == 0) {
        continue;
      }
      int last = lane;
      while (last + 1 < WARP && (mask >>> last + 1 & 1) != 0) {
        last++;
      }
      text.append(text.isEmpty() ? "" : ", ").append(lane);
      if (last > lane) {
        text.append('-').append(last);
      }
      lane = last;
    }
    return text.toString();
  }
}
