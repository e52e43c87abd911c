package dev.warpwright.ir.verify;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Interval;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier.Findings;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Shapes and types of tiles. */
final class TileRules {
  private final Findings findings;

  TileRules(Findings findings) {
    this.findings = findings;
  }

  private void problem(Stmt s, String message) {
    findings.add(Rule.TILES, s, message);
  }

  /** Whether two extents are constants that differ. */
  private static boolean differ(Expr a, Expr b) {
    return a instanceof Expr.IntImm x && b instanceof Expr.IntImm y && x.value() != y.value();
  }

  private static List<Expr> extents(Region region) {
    return region.tile().stream().map(Range::extent).toList();
  }

  void copy(Stmt.TileCopy c) {
    List<Expr> to = extents(c.to());
    List<Expr> from = extents(c.from());
    boolean same = to.size() == from.size();
    for (int i = 0; same && i < to.size(); i++) {
      same = !differ(to.get(i), from.get(i));
    }
    if (!same) {
      problem(
          c,
          String.format(
              Locale.ROOT,
              "the copy is from a tile of '%s' to one of another shape in '%s'",
              c.from().buffer().name(),
              c.to().buffer().name()));
    }
    if (isOpaque(c.to().buffer().dtype()) || isOpaque(c.from().buffer().dtype())) {
      problem(c, "elements of type mbarrier cannot be copied");
    }
  }

  private static boolean isOpaque(DType dtype) {
    return dtype == DType.MBARRIER || dtype == DType.HANDLE;
  }

  void fill(Stmt.TileFill f) {
    DType dtype = f.to().buffer().dtype();
    if (f.value().type().dtype() != dtype || !f.value().type().isScalar()) {
      problem(
          f,
          String.format(
              Locale.ROOT,
              "'%s' of type %s is filled with %s",
              f.to().buffer().name(),
              dtype,
              f.value().type()));
    }
  }

  void mma(Stmt.TileMma product) {
    List<Expr> c = extents(product.c());
    List<Expr> a = extents(product.a());
    List<Expr> b = extents(product.b());
    if (c.size() > 2 || a.size() > 2 || b.size() > 2) {
      problem(product, "a matrix product takes tiles of two dimensions");
    } else if (c.size() == 2 && a.size() == 2 && b.size() == 2) {
      Expr k = b.get(product.transposeB() ? 1 : 0);
      Expr n = b.get(product.transposeB() ? 0 : 1);
      Expr m = a.get(product.transposeA() ? 1 : 0);
      Expr depth = a.get(product.transposeA() ? 0 : 1);
      if (differ(c.get(0), m) || differ(c.get(1), n) || differ(depth, k)) {
        problem(product, "the shapes of the tiles of the matrix product do not fit");
      }
    }
    DType sum = product.c().buffer().dtype();
    DType left = product.a().buffer().dtype();
    DType right = product.b().buffer().dtype();
    // Matrix instructions sum products of f16 in f16, too.
    boolean half = sum == DType.F16 && left == DType.F16 && right == DType.F16;
    if (!half && !ExprRules.isArithmetic(sum)) {
      problem(
          product, "'" + product.c().buffer().name() + "' of type " + sum + " cannot hold sums");
    }
    if (left.isFloat() != sum.isFloat() || right.isFloat() != sum.isFloat()) {
      problem(
          product,
          String.format(Locale.ROOT, "mma of %s and %s accumulates in %s", left, right, sum));
    }
  }

  void reduce(Stmt.TileReduce r) {
    DType dtype = r.to().dtype();
    if (r.value().type().dtype() != dtype || !r.value().type().isScalar()) {
      problem(
          r,
          String.format(
              Locale.ROOT,
              "'%s' of type %s takes values of type %s",
              r.to().name(),
              dtype,
              r.value().type()));
    }
    if (!ExprRules.isArithmetic(dtype) || (r.op() == ReduceOp.MAX && !dtype.isFloat())) {
      problem(r, "no " + r.op().text() + " of values of type " + dtype);
    }
    if (r.indices().size() != r.to().rank()) {
      problem(r, "'" + r.to().name() + "' has rank " + r.to().rank());
    }
  }

  /** What one point writes is read by no other point, as far as the indices tell. */
  void map(Stmt.TileMap m, Bounds bounds) {
    List<Expr.Load> loads = new ArrayList<>();
    Walk.expressions(
        m,
        e -> {
          if (e instanceof Expr.Load load) {
            loads.add(load);
          }
        });
    for (Stmt.Store store : m.stores()) {
      for (Expr.Load load : loads) {
        if (load.buffer() == store.buffer()
            && !load.indices().equals(store.indices())
            && !apart(load.indices(), store.indices(), bounds)) {
          findings.add(
              Rule.TILES,
              load,
              String.format(
                  Locale.ROOT,
                  "a point of the map may read an element of '%s' that another point writes",
                  load.buffer().name()));
        }
      }
    }
  }

  /** Whether some dimension keeps the two apart at all points. */
  private static boolean apart(List<Expr> a, List<Expr> b, Bounds bounds) {
    for (int i = 0; i < a.size(); i++) {
      Interval x = bounds.of(a.get(i));
      Interval y = bounds.of(b.get(i));
      if (x.max() < y.min() || y.max() < x.min()) {
        return true;
      }
    }
    return false;
  }
}
