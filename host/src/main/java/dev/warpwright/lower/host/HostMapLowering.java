package dev.warpwright.lower.host;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Simplifier;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tile maps as loops over rows of vectors.
 *
 * <p>Selects stand in the way of vectors where they guard loads. A condition that is the same for
 * all columns becomes a branch around the row. A condition on the column is no guard where the load
 * may run over all columns anyway, and otherwise cuts the row where it changes.
 */
final class HostMapLowering {
  /** Nodes of a formula that is computed on accumulators while they are in registers. */
  private static final int SHORT = 20;

  private final PanelPlan plan;
  private final int lanes;
  private final Simplifier simplifier;

  HostMapLowering(PanelPlan plan, int lanes, Bounds bounds) {
    this.plan = plan;
    this.lanes = lanes;
    this.simplifier = new Simplifier(bounds);
  }

  // ---- whole maps --------------------------------------------------------------------------

  /** All rows and columns. */
  Stmt lower(Stmt.TileMap map) {
    return box(map, map.extents(), List.of(), padded(map, lanes));
  }

  /** Some rows and columns from {@code row} and {@code column} on, which may lie in the padding. */
  Stmt block(Stmt.TileMap map, Expr row, int rows, Expr column, int columns) {
    return box(map, List.of(Exprs.i32(rows), Exprs.i32(columns)), List.of(row, column), true);
  }

  private Stmt box(Stmt.TileMap map, List<Expr> extents, List<Expr> first, boolean padded) {
    List<String> names = new ArrayList<>();
    for (int d = 0; d < extents.size(); d++) {
      names.add(d == extents.size() - 1 ? "j" : "i" + (d == 0 ? "" : d));
    }
    int last = extents.size() - 1;
    return RowLoops.nest(
        names.subList(0, last),
        extents.subList(0, last),
        outer -> {
          List<Expr> at = new ArrayList<>();
          for (int d = 0; d < outer.size(); d++) {
            at.add(first.isEmpty() ? outer.get(d) : Exprs.add(first.get(d), outer.get(d)));
          }
          if (map.stores().size() > 1) {
            return RowLoops.row(
                names.get(last), extents.get(last), lanes, padded, j -> element(map, at, first, j));
          }
          Row row = new Row(map, at, first.isEmpty() ? Exprs.i32(0) : first.getLast(), padded);
          return row.stores(map.stores().getFirst(), 0, extents.get(last));
        });
  }

  private Stmt element(Stmt.TileMap map, List<Expr> outer, List<Expr> first, Expr column) {
    List<Expr> at = new ArrayList<>(outer);
    at.add(first.isEmpty() ? column : Exprs.add(first.getLast(), column));
    return bound(map, at, Stmts.seq(map.stores()));
  }

  /** The statement for one point of the map, with names of its own. */
  private Stmt bound(Stmt.TileMap map, List<Expr> at, Stmt s) {
    Map<Var, Expr> values = new HashMap<>();
    for (int d = 0; d < at.size(); d++) {
      values.put(map.vars().get(d), at.get(d));
    }
    return FreshNames.of(new Substitution(values, plan.replaced()).stmt(s));
  }

  /** One row of a map. */
  private final class Row {
    private final Stmt.TileMap map;
    private final List<Expr> outer;
    private final Expr base;
    private final boolean padded;
    private final Var column;

    Row(Stmt.TileMap map, List<Expr> outer, Expr base, boolean padded) {
      this.map = map;
      this.outer = outer;
      this.base = base;
      this.padded = padded;
      this.column = map.vars().getLast();
    }

    /** The columns from {@code begin} on. */
    Stmt stores(Stmt.Store store, long begin, Expr extent) {
      Stmt.Store known = decided(store, begin, extent);
      if (known.value() instanceof Expr.Select(Expr condition, Expr then, Expr otherwise)
          && !mentions(condition, column)) {
        return bindOuter(
            condition,
            stores(with(known, then), begin, extent),
            stores(with(known, otherwise), begin, extent));
      }
      Stmt body = HoistLoads.apply(known, load -> mayRunOver(map, load, begin, extent));
      if (extent instanceof Expr.IntImm imm && Exprs.isConst(base, 0)) {
        long cut = cut(body, begin, begin + imm.value());
        if (cut > begin) {
          return Stmts.seq(
              stores(known, begin, Exprs.i32(cut - begin)),
              stores(known, cut, Exprs.i32(begin + imm.value() - cut)));
        }
      }
      return RowLoops.row(
          "j",
          extent,
          lanes,
          padded && begin == 0,
          j -> {
            List<Expr> at = new ArrayList<>(outer);
            at.add(Exprs.add(Exprs.add(base, begin), j));
            return bound(map, at, body);
          });
    }

    private Stmt bindOuter(Expr condition, Stmt then, Stmt otherwise) {
      Map<Var, Expr> values = new HashMap<>();
      for (int d = 0; d < outer.size(); d++) {
        values.put(map.vars().get(d), outer.get(d));
      }
      Expr own = new Substitution(values, plan.replaced()).expr(condition);
      return new Stmt.If(own, then, otherwise);
    }

    /** The store with the conditions decided that are the same in all these columns. */
    private Stmt.Store decided(Stmt.Store store, long begin, Expr extent) {
      if (!Exprs.isConst(base, 0)) {
        return store;
      }
      Simplifier inRange =
          new Simplifier(simplifier.bounds().withRange(column, Exprs.i32(begin), extent));
      return with(store, new DecideSelects(inRange).expr(store.value()));
    }

    /** Where a select that guards a load changes sides within the columns; 0 for nowhere. */
    private long cut(Stmt body, long begin, long end) {
      long[] cut = {0};
      Walk.expressions(
          body,
          e -> {
            if (e instanceof Expr.Select s
                && s.condition() instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
                && op == BinaryOp.LT
                && a == column
                && b instanceof Expr.IntImm imm
                && imm.value() > begin
                && imm.value() < end
                && (loads(s.then()) || loads(s.otherwise()))) {
              cut[0] = imm.value();
            }
          });
      return cut[0];
    }
  }

  private static Stmt.Store with(Stmt.Store store, Expr value) {
    return value == store.value() ? store : new Stmt.Store(store.buffer(), store.indices(), value);
  }

  /** Takes the side of a select whose condition is known. */
  private static final class DecideSelects extends Rewriter {
    private final Simplifier simplifier;

    DecideSelects(Simplifier simplifier) {
      this.simplifier = simplifier;
    }

    @Override
    public Expr expr(Expr e) {
      if (e instanceof Expr.Select s && simplifier.expr(s.condition()) instanceof Expr.IntImm imm) {
        return expr(imm.value() != 0 ? s.then() : s.otherwise());
      }
      return super.expr(e);
    }
  }

  /**
   * Whether a load stays inside of its buffer in every row and column of the map, or of its padded
   * columns: its last index is the column, the others are rows of the map.
   */
  private boolean mayRunOver(Stmt.TileMap map, Expr.Load load, long begin, Expr extent) {
    if (!(map.extents().getLast() instanceof Expr.IntImm columns)
        || !(extent instanceof Expr.IntImm part)) {
      return false;
    }
    Buffer actual = plan.replaced().getOrDefault(load.buffer(), load.buffer());
    long end =
        Math.max(
            PanelPlan.roundUp(columns.value(), lanes),
            begin + PanelPlan.roundUp(part.value(), lanes));
    if (actual.layout() != null || load.indices().isEmpty()) {
      return false;
    }
    for (int d = 0; d < load.indices().size(); d++) {
      Expr index = load.indices().get(d);
      int dimension = map.vars().indexOf(index);
      long needed =
          dimension < 0
              ? Long.MAX_VALUE
              : dimension == map.vars().size() - 1
                  ? end
                  : map.extents().get(dimension) instanceof Expr.IntImm rows
                      ? rows.value()
                      : Long.MAX_VALUE;
      if (!(actual.shape().get(d) instanceof Expr.IntImm held) || held.value() < needed) {
        return false;
      }
    }
    return true;
  }

  // ---- padding -----------------------------------------------------------------------------

  /**
   * Whether a map may run past its last column up to a multiple: everything that it touches there
   * is padding of scratch memory or of a constant.
   */
  boolean padded(Stmt.TileMap map, long multiple) {
    if (!(map.extents().getLast() instanceof Expr.IntImm imm)) {
      return false;
    }
    long end = PanelPlan.roundUp(imm.value(), multiple);
    Var column = map.vars().getLast();
    boolean[] fits = {true};
    for (Stmt.Store store : map.stores()) {
      fits[0] &= fits(store.buffer(), store.indices(), column, end);
      Walk.expressions(
          store,
          e -> {
            if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)) {
              fits[0] &= fits(buffer, indices, column, end);
            }
          });
    }
    return fits[0];
  }

  private boolean fits(Buffer buffer, List<Expr> indices, Var column, long end) {
    if (indices.isEmpty()) {
      return true;
    }
    Buffer actual = plan.replaced().getOrDefault(buffer, buffer);
    boolean indexed = indices.getLast() == column;
    boolean elsewhere =
        indices.subList(0, indices.size() - 1).stream().anyMatch(e -> mentions(e, column));
    if (elsewhere || (!indexed && mentions(indices.getLast(), column))) {
      return false;
    }
    return !indexed
        || (actual.layout() == null
            && actual.shape().getLast() instanceof Expr.IntImm imm
            && imm.value() >= end);
  }

  // ---- on accumulators ---------------------------------------------------------------------

  /** Whether {@link #onRegisters} can compute the map, and is short enough to be repeated. */
  boolean fitsRegisters(Stmt.TileMap map, Buffer c) {
    if (map.stores().size() != 1 || map.vars().size() != 2) {
      return false;
    }
    int[] nodes = {0};
    boolean[] plain = {true};
    Walk.expressions(
        map.stores().getFirst().value(),
        e -> {
          nodes[0] +=
              switch (e) {
                case Expr.Cast cast when cast.type().dtype() != DType.F32 -> 8;
                case Expr.Load l when l.buffer() == c -> 0;
                default -> 1;
              };
          plain[0] &=
              !(e instanceof Expr.Call call)
                  || call.op() == MathOp.FMA
                  || call.op() == MathOp.ABS
                  || call.op() == MathOp.SQRT;
        });
    if (!plain[0] || nodes[0] > SHORT) {
      return false;
    }
    Stmt.For probe = vector(map, c, null, Exprs.i32(0), Exprs.i32(0), 0, 0);
    return !RowLoops.refused(probe);
  }

  /**
   * The map for one vector of accumulators.
   *
   * @param c the accumulator buffer that the map reads
   * @param acc what holds it: [rows, columns] of a micro-kernel; null for a trial
   * @param row of c
   * @param column first column of c
   * @param r row of acc
   * @param v first column of acc
   */
  Stmt onRegisters(Stmt.TileMap map, Buffer c, Buffer acc, Expr row, Expr column, int r, int v) {
    return vector(map, c, acc, row, column, r, v);
  }

  private Stmt.For vector(
      Stmt.TileMap map, Buffer c, @Nullable Buffer acc, Expr row, Expr column, int r, int v) {
    Var lane = Var.index("l");
    Expr at = Exprs.add(Exprs.add(column, v), lane);
    Stmt hoisted =
        HoistLoads.apply(
            map.stores().getFirst(),
            load -> load.buffer() == c || mayRunOver(map, load, 0, map.extents().getLast()));
    Stmt own = acc == null ? hoisted : new FromRegisters(c, acc, r, v, lane).stmt(hoisted);
    return Stmt.For.of(
        ForKind.VECTORIZED, lane, Exprs.i32(lanes), bound(map, List.of(row, at), own));
  }

  /** Replaces loads of an accumulator buffer by the registers that hold the element. */
  private static final class FromRegisters extends Rewriter {
    private final Buffer c;
    private final Expr register;

    FromRegisters(Buffer c, Buffer acc, int r, int v, Var lane) {
      this.c = c;
      this.register = Exprs.load(acc, Exprs.i32(r), Exprs.add(Exprs.i32(v), lane));
    }

    @Override
    public Expr expr(Expr e) {
      return e instanceof Expr.Load load && load.buffer() == c ? register : super.expr(e);
    }
  }

  // ---- expressions -------------------------------------------------------------------------

  static boolean mentions(Expr e, Var v) {
    boolean[] found = {false};
    Walk.expressions(e, x -> found[0] |= x == v);
    return found[0];
  }

  static boolean loads(Expr e) {
    boolean[] found = {false};
    Walk.expressions(e, x -> found[0] |= x instanceof Expr.Load);
    return found[0];
  }

  /** Serial loops over a box, the last one in vectors where possible. */
  static Stmt box(List<Expr> extents, int lanes, Function<List<Expr>, Stmt> body) {
    List<String> names = new ArrayList<>();
    for (int d = 0; d < extents.size(); d++) {
      names.add(d == extents.size() - 1 ? "j" : "i" + (d == 0 ? "" : d));
    }
    int last = extents.size() - 1;
    return RowLoops.nest(
        names.subList(0, last),
        extents.subList(0, last),
        outer ->
            RowLoops.row(
                names.get(last),
                extents.get(last),
                lanes,
                false,
                j -> {
                  List<Expr> at = new ArrayList<>(outer);
                  at.add(j);
                  return body.apply(at);
                }));
  }
}
