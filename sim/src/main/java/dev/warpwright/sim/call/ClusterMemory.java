package dev.warpwright.sim.call;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.block.BlockRun;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.expr.DoubleExpr;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.memory.Actor;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.Shadow;
import java.util.List;
import java.util.Objects;

/** Compiles accesses of threads to shared memory of another block of their cluster. */
final class ClusterMemory {
  private ClusterMemory() {}

  /** An element of a block of the cluster. */
  private record Place(BlockRun block, Shadow shadow, int element) {}

  /** Finds the place that a call names, for a thread. */
  private interface Finder {
    Place find(Frame f);
  }

  /** What a thread does to read. */
  static Exec load(Expr.Call call, WarpCalls calls, IntrinsicCall.ResultSink sink) {
    Expr.AddressOf address = (Expr.AddressOf) call.args().getFirst();
    Finder finder = finder(call, calls);
    int slot = new MemoryAccess(calls.exprs(), address.buffer(), address.indices()).slot();
    return f -> {
      Place at = finder.find(f);
      at.shadow.read(f, at.element, calls.exprs().where());
      sink.set(f, Bytes.getInt(at.block.memory[slot], at.element * Float.BYTES) & 0xFFFF_FFFFL);
    };
  }

  /** Writes by the active threads. */
  static WarpNode store(UnitSite site) {
    Finder finder = finder(site.where().call(), site.calls());
    Expr.AddressOf address = site.address(0);
    int slot = new MemoryAccess(site.calls().exprs(), address.buffer(), address.indices()).slot();
    DoubleExpr value = site.calls().exprs().real(site.arg(2));
    return site.eachThread(
        (w, lane, f) -> {
          Place at = finder.find(f);
          at.shadow.write(f, at.element, site.where());
          Bytes.putFloat(at.block.memory[slot], at.element * Float.BYTES, (float) value.eval(f));
        });
  }

  private static Finder finder(Expr.Call call, WarpCalls calls) {
    ExprCompiler exprs = calls.exprs();
    Expr.AddressOf address = (Expr.AddressOf) call.args().getFirst();
    Buffer buffer = address.buffer();
    MemoryAccess access = new MemoryAccess(exprs, buffer, address.indices());
    LongExpr offset = access.offset();
    LongExpr rank = exprs.integer(call.args().get(1));
    int slot = access.slot();
    return f -> {
      Actor actor = Objects.requireNonNull(f.actor);
      List<BlockRun> blocks = BlockRun.of(f).in.blocks;
      long number = rank.eval(f);
      if (number < 0 || number >= blocks.size()) {
        throw misuse(exprs, f, "the cluster has no block " + number + ", only " + blocks.size());
      }
      BlockRun block = blocks.get((int) number);
      if (block != actor.block && !actor.knowsStart(f.warpLane, block)) {
        throw misuse(
            exprs, f, "no cluster barrier between the start of block " + block + " and this");
      }
      if (!access.inBounds(f)) {
        throw exprs
            .context()
            .fault(
                Finding.Kind.OUT_OF_BOUNDS, exprs.where(), f, buffer.name() + " of " + block, "");
      }
      if (block != actor.block) {
        block.accessedBy(f, actor, buffer.name(), exprs.where());
      }
      return new Place(block, Objects.requireNonNull(block.shadows[slot]), (int) offset.eval(f));
    };
  }

  private static SimulationError misuse(ExprCompiler exprs, Frame f, String detail) {
    return exprs.context().fault(Finding.Kind.INTRINSIC, exprs.where(), f, "", detail);
  }
}
