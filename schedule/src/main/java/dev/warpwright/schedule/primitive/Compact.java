package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.Hull;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Rebase;
import dev.warpwright.schedule.analysis.Span;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes an intermediate as small as the box that is accessed where it is allocated.
 *
 * <pre>{@code
 * for i_o in n/4 { alloc h[n] { for i in 4 { h[i_o*4 + i] = … } … } }
 * →
 * for i_o in n/4 { alloc h[4] { for i in 4 { h[i] = … } … } }
 * }</pre>
 *
 * <p>A dimension about whose indices too little is known stays as it is. Where a guarded access
 * reaches beyond the buffer, the box does too, so that later on whole tiles of it may be computed.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The buffer exists and is an intermediate.
 *   <li>It has no layout yet.
 *   <li>It is accessed.
 * </ol>
 */
public final class Compact {
  private static final String NAME = "compact";

  private Compact() {}

  public static PrimFunc apply(PrimFunc func, String bufferName) {
    Check check = new Check(NAME, func);
    Buffer buffer = check.buffer(1, bufferName);
    List<Stmt> path = check.alloc(1, buffer);
    Stmt.Alloc alloc = (Stmt.Alloc) path.getLast();
    check.require(2, buffer.layout() == null, buffer.name() + " has a layout already", alloc);
    List<Access> accesses = Accesses.of(alloc.body(), buffer);
    check.require(3, !accesses.isEmpty(), buffer.name() + " is not accessed", alloc);

    Ranges ranges = Tree.ranges(func, path);
    Region box = box(buffer, accesses, ranges);
    Buffer small = buffer.withShape(box.ranges().stream().map(Range::extent).toList());
    List<LinearForm> origin =
        box.ranges().stream().map(range -> Forms.of(range.min(), ranges)).toList();
    Stmt body = new Rebase(buffer, small, origin, ranges).stmt(alloc.body());
    return Tree.replace(func, alloc, new Stmt.Alloc(small, body));
  }

  /**
   * The box that stays. What a tile copy reads or writes outside of the buffer has a meaning, so
   * the end of the buffer stays where it is in a dimension in which a copy may go beyond it.
   */
  private static Region box(Buffer buffer, List<Access> accesses, Ranges ranges) {
    Region hull = Hull.of(accesses, ranges);
    if (accesses.stream().noneMatch(a -> a.leaf() instanceof Stmt.TileCopy)) {
      return hull;
    }
    List<Range> box = new ArrayList<>();
    for (int d = 0; d < buffer.rank(); d++) {
      Range range = hull.ranges().get(d);
      LinearForm first = Forms.of(range.min(), ranges);
      Span low = ranges.of(first);
      Span room =
          ranges.of(Forms.of(buffer.shape().get(d)).minus(first).minus(Forms.of(range.extent())));
      boolean inside = low != null && low.lo() >= 0 && room != null && room.lo() >= 0;
      box.add(inside ? range : new Range(Exprs.i32(0), buffer.shape().get(d)));
    }
    return new Region(buffer, box);
  }
}
