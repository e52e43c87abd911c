package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.ir.visit.Rewriter;
import java.util.ArrayList;
import java.util.List;

/** Exchanges a buffer by one that holds the box of it that starts at an origin. */
public final class Rebase extends Rewriter {
  private final Buffer old;
  private final Buffer replacement;
  private final List<LinearForm> origin;
  private final Ranges ranges;

  /**
   * Makes the rewriter.
   *
   * @param origin the first index of each dimension, in terms of loops around all that is rewritten
   */
  public Rebase(Buffer old, Buffer replacement, List<LinearForm> origin, Ranges ranges) {
    this.old = old;
    this.replacement = replacement;
    this.origin = List.copyOf(origin);
    this.ranges = ranges;
  }

  private List<Expr> indices(List<Expr> indices) {
    List<Expr> shifted = new ArrayList<>();
    for (int d = 0; d < indices.size(); d++) {
      shifted.add(index(d, expr(indices.get(d))));
    }
    return shifted;
  }

  private Expr index(int d, Expr index) {
    LinearForm from = origin.get(d);
    return from.isConstant(0) ? index : Forms.of(index, ranges).minus(from).toExpr();
  }

  @Override
  public Expr expr(Expr e) {
    if (e instanceof Expr.Load(Buffer b, List<Expr> at) && b == old) {
      return new Expr.Load(replacement, indices(at));
    }
    if (e instanceof Expr.AddressOf(Buffer b, List<Expr> at) && b == old) {
      return new Expr.AddressOf(replacement, indices(at));
    }
    return super.expr(e);
  }

  @Override
  public Region region(Region region) {
    if (region.buffer() != old) {
      return super.region(region);
    }
    List<Range> shifted = new ArrayList<>();
    for (int d = 0; d < region.ranges().size(); d++) {
      Range range = region.ranges().get(d);
      shifted.add(new Range(index(d, expr(range.min())), range.extent()));
    }
    return new Region(replacement, shifted);
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (Mentions.isWithout(s, old)) {
      return s;
    }
    if (s instanceof Stmt.Alloc alloc) {
      return Tree.inside(alloc, x -> false, this::stmt);
    }
    Stmt sequence = Mentions.rewritten(s, old, this::stmt);
    if (sequence != null) {
      return sequence;
    }
    if (s instanceof Stmt.Store store && store.buffer() == old) {
      return store(store);
    }
    if (s instanceof Stmt.TileMap map) {
      return new Stmt.TileMap(
          map.vars(), map.extents(), map.stores().stream().map(this::store).toList(), map.attrs());
    }
    if (s instanceof Stmt.TileReduce r && r.to() == old) {
      return new Stmt.TileReduce(
          r.op(),
          r.vars(),
          r.extents(),
          r.reduceVars(),
          r.reduceExtents(),
          replacement,
          indices(r.indices()),
          expr(r.value()),
          r.attrs());
    }
    return super.stmt(s);
  }

  @Override
  protected Stmt.Store store(Stmt.Store store) {
    return store.buffer() == old
        ? new Stmt.Store(replacement, indices(store.indices()), expr(store.value()))
        : super.store(store);
  }
}
