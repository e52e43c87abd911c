package dev.warpwright.sim.interpret;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.sim.finding.Source;
import java.util.ArrayList;
import java.util.List;

/** The meaning of tile statements (but mma) as plain loops and stores. */
final class TileExpansion {
  private TileExpansion() {}

  static Stmt copy(Stmt.TileCopy copy) {
    List<Range> to = copy.to().tile();
    List<Range> from = copy.from().tile();
    if (to.size() != from.size()) {
      throw new IllegalArgumentException(
          "copy between tiles of "
              + to.size()
              + " and "
              + from.size()
              + " dimensions in '"
              + Source.firstLine(copy)
              + "'");
    }
    List<Var> vars = vars(to.size());
    List<Expr> target = indices(copy.to(), vars);
    List<Expr> source = indices(copy.from(), vars);
    Buffer into = copy.to().buffer();
    Expr element = Exprs.cast(into.dtype(), new Expr.Load(copy.from().buffer(), source));
    Expr value =
        Exprs.select(inside(copy.from().buffer(), source), element, Exprs.zero(element.type()));
    Stmt body = Stmts.when(inside(into, target), new Stmt.Store(into, target, value));
    return loops(ForKind.PARALLEL, vars, to.stream().map(Range::extent).toList(), body);
  }

  static Stmt fill(Stmt.TileFill fill) {
    List<Range> to = fill.to().tile();
    List<Var> vars = vars(to.size());
    Var value = new Var("value", fill.value().type());
    Stmt store = new Stmt.Store(fill.to().buffer(), indices(fill.to(), vars), value);
    Stmt loops = loops(ForKind.PARALLEL, vars, to.stream().map(Range::extent).toList(), store);
    return new Stmt.Let(value, fill.value(), loops);
  }

  static Stmt map(Stmt.TileMap map) {
    return loops(ForKind.PARALLEL, map.vars(), map.extents(), Stmts.seq(map.stores()));
  }

  static Stmt reduce(Stmt.TileReduce r) {
    Expr combined = r.op().combine(new Expr.Load(r.to(), r.indices()), r.value());
    Stmt store = new Stmt.Store(r.to(), r.indices(), combined);
    Stmt inner = loops(ForKind.SERIAL, r.reduceVars(), r.reduceExtents(), store);
    return loops(ForKind.PARALLEL, r.vars(), r.extents(), inner);
  }

  private static List<Var> vars(int count) {
    List<Var> vars = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      vars.add(Var.index("t" + i));
    }
    return vars;
  }

  private static Stmt loops(ForKind kind, List<Var> vars, List<Expr> extents, Stmt body) {
    Stmt result = body;
    for (int i = vars.size() - 1; i >= 0; i--) {
      result = Stmt.For.of(kind, vars.get(i), extents.get(i), result);
    }
    return result;
  }

  /** The element of a region at a position of its tile. */
  private static List<Expr> indices(Region region, List<Var> position) {
    List<Expr> indices = new ArrayList<>();
    int next = 0;
    for (Range range : region.ranges()) {
      indices.add(range.isPoint() ? range.min() : Exprs.add(range.min(), position.get(next++)));
    }
    return indices;
  }

  private static Expr inside(Buffer buffer, List<Expr> indices) {
    Expr all = Exprs.bool(true);
    for (int d = 0; d < indices.size(); d++) {
      Expr i = indices.get(d);
      all = Exprs.and(all, Exprs.ge(i, Exprs.zero(i.type())));
      all = Exprs.and(all, Exprs.lt(i, buffer.shape().get(d)));
    }
    return all;
  }
}
