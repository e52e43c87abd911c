package dev.warpwright.sim.call;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.block.SharedRows;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.finding.Source;
import dev.warpwright.sim.memory.Actor;
import dev.warpwright.sim.memory.Shadow;

/** So many elements as they follow each other in memory, whatever the buffer's layout. */
final class LinearOperand {
  private final Context context;
  private final Stmt where;
  private final Buffer buffer;
  private final MemoryAccess access;
  private final LongExpr offset;
  private final int bytes;
  private final int count;

  LinearOperand(UnitSite site, Expr.AddressOf address, int count) {
    this.context = site.context();
    this.where = site.where();
    this.buffer = address.buffer();
    this.access = new MemoryAccess(site.calls().exprs(), buffer, address.indices());
    this.offset = access.offset();
    this.bytes = buffer.dtype().bytes();
    this.count = count;
  }

  /** Offset of the first of them, if all are inside the memory. */
  private long first(Frame f, byte[][] memory) {
    long first = offset.eval(f);
    if (first + count > memory[access.slot()].length / bytes) {
      throw context.fault(
          Finding.Kind.OUT_OF_BOUNDS,
          where,
          f,
          Source.element(buffer, access.coordinates(f)),
          "a copy of " + count + " elements from there on, the buffer is " + buffer);
    }
    if (first * bytes % SharedRows.CHUNK_BYTES != 0) {
      throw context.fault(
          Finding.Kind.MISALIGNED,
          where,
          f,
          Source.element(buffer, access.coordinates(f)),
          "linear TMA copies need a multiple of 16 bytes, the offset is " + first * bytes);
    }
    return first;
  }

  /** In a block's shared memory: a row as it lies there. */
  SharedRows shared(Frame f, byte[][] memory) {
    long first = first(f, memory);
    return new SharedRows(access.slot(), bytes, first, count, 0, count, Swizzle.NONE);
  }

  /** In global memory. */
  Run global(Frame f) {
    return new Run(f, (int) first(f, f.memory));
  }

  /** What a copy reads. */
  final class Run implements TmaCalls.Source {
    private final Frame f;
    private final int first;

    private Run(Frame f, int first) {
      this.f = f;
      this.first = first;
    }

    @Override
    public void beginRead(Actor actor, long epoch) {
      Shadow shadow = f.shadows[access.slot()];
      if (shadow != null) {
        shadow.unitReads(f, actor, epoch, first, count, where, f.warpLane);
      }
    }

    /** Counts what it moves. */
    void count() {
      if (f.requests != null) {
        long storage = f.memory[access.slot()].length;
        long from = (long) first * bytes;
        f.requests.counting().bulk(access.slot(), storage, from, (long) count * bytes, true, 1);
      }
    }

    @Override
    public byte[] load() {
      byte[] row = new byte[count * bytes];
      System.arraycopy(f.memory[access.slot()], first * bytes, row, 0, row.length);
      return row;
    }
  }
}
