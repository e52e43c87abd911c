package dev.warpwright.lower.simt;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Rewriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Buffers of which a pipeline has several, as one buffer with one dimension more. */
final class Slots {
  /** Slots begin at multiples of this many bytes, as far as any access or swizzle may ask. */
  private static final int ALIGNMENT = 128;

  private Slots() {}

  /** Room for a number of buffers like this one. */
  static Buffer of(Buffer buffer, int count) {
    List<Expr> shape = new ArrayList<>(buffer.shape());
    shape.addFirst(Exprs.i32(count));
    return new Buffer(
        buffer.name(),
        buffer.dtype(),
        shape,
        buffer.scope(),
        buffer.layout() == null ? null : layout(buffer, buffer.layout(), count),
        buffer.alignment());
  }

  private static Layout layout(Buffer buffer, Layout layout, int count) {
    int granule = ALIGNMENT / buffer.dtype().bytes();
    long size = Math.ceilDiv(layout.cosize(), granule) * granule;
    List<List<Mode>> dimensions = new ArrayList<>(layout.dimensions());
    dimensions.addFirst(List.of(new Mode(count, size)));
    return new Layout(dimensions, layout.swizzle());
  }

  /** How many slots the buffers have. */
  static int count(Map<Buffer, Buffer> slots) {
    return (int) slots.values().iterator().next().extent(0);
  }

  /** The slot of an iteration. */
  static Expr number(Map<Buffer, Buffer> slots, Expr iteration) {
    return Exprs.mod(iteration, count(slots));
  }

  /** The statement on one of the slots. */
  static Stmt rewrite(Stmt s, Map<Buffer, Buffer> slots, Expr slot) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        return s instanceof Stmt.Store(Buffer buffer, List<Expr> indices, Expr value)
                && slots.get(buffer) instanceof Buffer many
            ? new Stmt.Store(many, in(indices), expr(value))
            : super.stmt(s);
      }

      @Override
      public Expr expr(Expr e) {
        if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
            && slots.get(buffer) instanceof Buffer many) {
          return new Expr.Load(many, in(indices));
        }
        if (e instanceof Expr.AddressOf(Buffer buffer, List<Expr> indices)
            && slots.get(buffer) instanceof Buffer many) {
          return new Expr.AddressOf(many, in(indices));
        }
        return super.expr(e);
      }

      private List<Expr> in(List<Expr> indices) {
        List<Expr> result = new ArrayList<>(exprs(indices));
        result.addFirst(slot);
        return result;
      }
    }.stmt(s);
  }
}
