package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import java.util.ArrayList;
import java.util.List;

/**
 * Stores an intermediate with its dimensions in another order, so that other elements are
 * neighbours.
 *
 * <pre>{@code
 * transformLayout(t, 1, 0):   alloc t[n, m]; t[i, j] = …   →   alloc t[m, n]; t[j, i] = …
 * }</pre>
 *
 * <p>Dimension d of the new buffer is dimension {@code order[d]} of the old one.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The buffer exists and is an intermediate.
 *   <li>It has no layout yet and is no fragment.
 *   <li>The order names each of its dimensions once.
 *   <li>No tile statement touches it.
 *   <li>An extent that is not constant stays the first one.
 * </ol>
 */
public final class TransformLayout {
  private static final String NAME = "transformLayout";

  private TransformLayout() {}

  public static PrimFunc apply(PrimFunc func, String bufferName, List<Integer> order) {
    Check check = new Check(NAME, func);
    Buffer old = check.buffer(1, bufferName);
    Stmt.Alloc alloc = (Stmt.Alloc) check.alloc(1, old).getLast();
    check.require(
        2,
        old.layout() == null && old.scope() != Scope.FRAGMENT,
        bufferName + " has a layout already",
        alloc);
    check.require(
        3,
        order.stream().sorted().toList().equals(dimensions(old)),
        order + " does not name each of the " + old.rank() + " dimensions of " + bufferName,
        alloc);
    for (Access access : Accesses.of(alloc.body(), old)) {
      check.require(
          4,
          access.leaf() instanceof Stmt.Block || access.leaf() instanceof Stmt.Store,
          "a tile statement touches " + bufferName,
          access.leaf());
    }
    List<Expr> shape = permuted(old.shape(), order);
    check.require(
        5,
        shape.stream().skip(1).allMatch(Expr.IntImm.class::isInstance),
        "an extent of " + bufferName + " is not constant and would not be the first",
        alloc);
    Buffer permuted = old.withShape(shape);
    return func.withBody(new Exchange(old, permuted, order).stmt(func.body()));
  }

  private static List<Integer> dimensions(Buffer buffer) {
    List<Integer> all = new ArrayList<>();
    for (int d = 0; d < buffer.rank(); d++) {
      all.add(d);
    }
    return all;
  }

  private static <T> List<T> permuted(List<T> list, List<Integer> order) {
    return order.stream().map(list::get).toList();
  }

  private static final class Exchange extends Rewriter {
    private final Buffer old;
    private final Buffer permuted;
    private final List<Integer> order;

    Exchange(Buffer old, Buffer permuted, List<Integer> order) {
      this.old = old;
      this.permuted = permuted;
      this.order = order;
    }

    @Override
    protected Buffer buffer(Buffer buffer) {
      return buffer == old ? permuted : buffer;
    }

    @Override
    public Stmt stmt(Stmt s) {
      return s instanceof Stmt.Store(Buffer b, List<Expr> indices, Expr value) && b == old
          ? new Stmt.Store(permuted, permuted(exprs(indices), order), expr(value))
          : super.stmt(s);
    }

    @Override
    public Expr expr(Expr e) {
      return switch (e) {
        case Expr.Load(Buffer b, List<Expr> indices) when b == old ->
            new Expr.Load(permuted, permuted(exprs(indices), order));
        case Expr.AddressOf(Buffer b, List<Expr> indices) when b == old ->
            new Expr.AddressOf(permuted, permuted(exprs(indices), order));
        default -> super.expr(e);
      };
    }

    @Override
    public Region region(Region region) {
      if (region.buffer() != old) {
        return super.region(region);
      }
      List<Range> ranges = new ArrayList<>();
      for (Range range : region.ranges()) {
        ranges.add(new Range(expr(range.min()), expr(range.extent())));
      }
      return new Region(permuted, permuted(ranges, order));
    }
  }
}
