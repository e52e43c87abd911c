package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.arith.Simplifier;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.List;

/**
 * Tile copies as loops over rows. A row that lies outside of its source becomes zeros, one outside
 * of its destination is left out; guards that are certainly true are not written.
 */
final class HostCopyLowering {
  private final int lanes;
  private final Simplifier simplifier;

  HostCopyLowering(int lanes, Simplifier simplifier) {
    this.lanes = lanes;
    this.simplifier = simplifier;
  }

  Stmt lower(Stmt.TileCopy copy) {
    List<Expr> extents = copy.to().tile().stream().map(Range::extent).toList();
    List<String> names = new ArrayList<>();
    for (int i = 0; i < extents.size(); i++) {
      names.add("c" + i);
    }
    if (extents.isEmpty()) {
      return element(copy, List.of());
    }
    int last = extents.size() - 1;
    return RowLoops.nest(
        names.subList(0, last), extents.subList(0, last), outer -> row(copy, outer, extents));
  }

  private Stmt row(Stmt.TileCopy copy, List<Expr> outer, List<Expr> extents) {
    int last = extents.size() - 1;
    Expr extent = extents.get(last);
    // Guards that do not depend on the column are tested once for the row.
    Expr rowFrom = guard(copy.from(), outer, extent, false);
    Expr rowTo = guard(copy.to(), outer, extent, false);
    Expr columnFrom = guard(copy.from(), outer, extent, true);
    Expr columnTo = guard(copy.to(), outer, extent, true);
    boolean columnsInside = Exprs.isConst(columnFrom, 1) && Exprs.isConst(columnTo, 1);
    if (!columnsInside) {
      return RowLoops.nest(
          List.of("c" + last),
          List.of(extent),
          inner -> {
            List<Expr> at = new ArrayList<>(outer);
            at.addAll(inner);
            return element(copy, at);
          });
    }
    Buffer to = copy.to().buffer();
    Stmt body =
        RowLoops.row(
            "c" + last,
            extent,
            lanes,
            false,
            column -> {
              List<Expr> at = new ArrayList<>(outer);
              at.add(column);
              return new Stmt.Store(
                  to,
                  indices(copy.to(), at),
                  Exprs.cast(
                      to.dtype(), new Expr.Load(copy.from().buffer(), indices(copy.from(), at))));
            });
    if (!Exprs.isConst(rowFrom, 1)) {
      Stmt zeros =
          RowLoops.row(
              "c" + last,
              extent,
              lanes,
              false,
              column -> {
                List<Expr> at = new ArrayList<>(outer);
                at.add(column);
                return new Stmt.Store(to, indices(copy.to(), at), Exprs.zero(Type.of(to.dtype())));
              });
      body = new Stmt.If(rowFrom, body, zeros);
    }
    return Exprs.isConst(rowTo, 1) ? body : new Stmt.If(rowTo, body, null);
  }

  /** One element with its guards. */
  private Stmt element(Stmt.TileCopy copy, List<Expr> at) {
    Buffer to = copy.to().buffer();
    List<Expr> fromIndices = indices(copy.from(), at);
    List<Expr> toIndices = indices(copy.to(), at);
    Expr value = Exprs.cast(to.dtype(), new Expr.Load(copy.from().buffer(), fromIndices));
    Expr inside = inside(copy.from().buffer(), fromIndices);
    if (!Exprs.isConst(inside, 1)) {
      value = Exprs.select(inside, value, Exprs.zero(Type.of(to.dtype())));
    }
    Expr writable = inside(to, toIndices);
    Stmt store = new Stmt.Store(to, toIndices, value);
    return Exprs.isConst(writable, 1) ? store : new Stmt.If(writable, store, null);
  }

  /** Coordinates of a point of the tile. */
  static List<Expr> indices(Region region, List<Expr> at) {
    List<Expr> indices = new ArrayList<>();
    int next = 0;
    for (Range range : region.ranges()) {
      indices.add(range.isPoint() ? range.min() : Exprs.add(range.min(), at.get(next++)));
    }
    return indices;
  }

  /**
   * Condition under which a row's elements lie inside: of the dimension that the column moves, or
   * of all the others.
   */
  private Expr guard(Region region, List<Expr> outer, Expr extent, boolean column) {
    Expr guard = Exprs.bool(true);
    int next = 0;
    for (int d = 0; d < region.ranges().size(); d++) {
      Range range = region.ranges().get(d);
      boolean isColumn = !range.isPoint() && next == outer.size();
      Expr first = range.min();
      Expr end = range.min();
      if (isColumn) {
        end = Exprs.add(range.min(), Exprs.sub(extent, Exprs.i32(1)));
      } else if (!range.isPoint()) {
        first = Exprs.add(range.min(), outer.get(next));
        end = first;
      }
      if (!range.isPoint()) {
        next++;
      }
      if (isColumn == column) {
        guard = Exprs.and(guard, within(first, end, region.buffer().shape().get(d)));
      }
    }
    return guard;
  }

  private Expr inside(Buffer buffer, List<Expr> indices) {
    Expr condition = Exprs.bool(true);
    for (int d = 0; d < indices.size(); d++) {
      Expr index = indices.get(d);
      condition = Exprs.and(condition, within(index, index, buffer.shape().get(d)));
    }
    return condition;
  }

  private Expr within(Expr first, Expr last, Expr extent) {
    Expr low = simplifier.expr(Exprs.ge(first, Exprs.i32(0)));
    Expr high = simplifier.expr(Exprs.lt(last, extent));
    return Exprs.and(low, high);
  }
}
