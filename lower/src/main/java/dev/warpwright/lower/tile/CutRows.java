package dev.warpwright.lower.tile;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The part of {@link AssignRoles} that lets instances of a role share the rows of each item.
 *
 * <pre>{@code
 * alloc acc: f32[128, 64]                       alloc acc: f32[64, 64]
 * consume ring {                                consume ring {
 *   tile.mma acc += As[0 +: 128, 0 +: 64] * Bs  →  tile.mma acc += As[g * 64 +: 64, 0 +: 64] * Bs
 * }                                             }
 * tile.copy C[row +: 128, …] <- acc             tile.copy C[row + g * 64 +: 64, …] <- acc
 * }</pre>
 *
 * <p>Requires: whatever the role allocates has the item's rows as its first dimension, and no
 * statement combines different rows of it.
 */
final class CutRows extends Rewriter {
  private final Map<Buffer, Buffer> cut = new HashMap<>();
  private final Var instance;
  private final long rows;
  private final long each;

  /** Statements of the rows of one map or reduction; its row variable stands for all elsewhere. */
  private final Set<Var> rowVars = new HashSet<>();

  private CutRows(Var instance, long rows, int instances) {
    this.instance = instance;
    this.rows = rows;
    this.each = rows / instances;
  }

  /**
   * Cuts.
   *
   * @param instance the number of the instance
   * @throws PassRefusal if rows depend on each other, or cannot be dealt out evenly
   */
  static Stmt apply(Stmt body, Var instance, int instances) {
    Set<Long> rows = new HashSet<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.TileMma mma) {
            rows.add(mma.c().buffer().extent(0));
          }
        });
    if (rows.size() != 1 || rows.iterator().next() % instances != 0) {
      throw new PassRefusal("items of " + rows + " rows cannot be cut for " + instances);
    }
    return new CutRows(instance, rows.iterator().next(), instances).stmt(body);
  }

  private PassRefusal refusal(Buffer buffer) {
    return new PassRefusal("the rows of " + buffer.name() + " depend on each other");
  }

  @Override
  protected Buffer buffer(Buffer buffer) {
    return cut.getOrDefault(buffer, buffer);
  }

  @Override
  public Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Alloc(Buffer buffer, Stmt inner) -> {
        if (buffer.rank() == 0 || buffer.extent(0) != rows || buffer.layout() != null) {
          throw new PassRefusal(buffer.name() + " is no buffer of the item's rows, dense");
        }
        List<Expr> shape = new ArrayList<>(buffer.shape());
        shape.set(0, Exprs.i32(each));
        cut.put(
            buffer,
            new Buffer(
                buffer.name(), buffer.dtype(), shape, buffer.scope(), null, buffer.alignment()));
        yield super.stmt(s);
      }
      case Stmt.TileCopy(Region to, Region from, var attrs) ->
          new Stmt.TileCopy(part(to), part(from), attrs);
      case Stmt.TileFill(Region to, Expr value, var attrs) ->
          new Stmt.TileFill(part(to), expr(value), attrs);
      case Stmt.TileMma(
              Region c,
              Region a,
              Region b,
              boolean transposeA,
              boolean transposeB,
              var attrs) -> {
        if (cut.containsKey(b.buffer())) {
          throw refusal(b.buffer());
        }
        Region left = transposeA ? part(a, a.tile().get(1)) : part(a);
        yield new Stmt.TileMma(part(c), left, region(b), transposeA, transposeB, attrs);
      }
      case Stmt.TileMap m -> {
        Var row = m.vars().getFirst();
        List<Expr> extents = new ArrayList<>(m.extents());
        if (!Exprs.isConst(extents.getFirst(), rows)) {
          throw new PassRefusal("a map does not go over the item's rows first");
        }
        extents.set(0, Exprs.i32(each));
        rowVars.add(row);
        List<Stmt.Store> stores = m.stores().stream().map(this::point).toList();
        rowVars.remove(row);
        yield new Stmt.TileMap(m.vars(), extents, stores, m.attrs());
      }
      case Stmt.TileReduce r -> {
        Var row = r.vars().getFirst();
        List<Expr> extents = new ArrayList<>(r.extents());
        if (r.vars().size() != 1
            || !Exprs.isConst(extents.getFirst(), rows)
            || !cut.containsKey(r.to())) {
          throw refusal(r.to());
        }
        extents.set(0, Exprs.i32(each));
        rowVars.add(row);
        Expr value = expr(r.value());
        rowVars.remove(row);
        yield new Stmt.TileReduce(
            r.op(),
            r.vars(),
            extents,
            r.reduceVars(),
            exprs(r.reduceExtents()),
            buffer(r.to()),
            r.indices(),
            value,
            r.attrs());
      }
      default -> super.stmt(s);
    };
  }

  private Stmt.Store point(Stmt.Store store) {
    return new Stmt.Store(
        buffer(store.buffer()), indices(store.buffer(), store.indices()), expr(store.value()));
  }

  /** Of a buffer that is cut, the row is the instance's own; elsewhere it is the item's. */
  private List<Expr> indices(Buffer buffer, List<Expr> indices) {
    if (!cut.containsKey(buffer)) {
      return exprs(indices);
    }
    if (!(indices.getFirst() instanceof Var v) || !rowVars.contains(v)) {
      throw refusal(buffer);
    }
    List<Expr> result = new ArrayList<>(exprs(indices));
    result.set(0, v);
    return result;
  }

  @Override
  public Expr expr(Expr e) {
    if (e instanceof Var v && rowVars.contains(v)) {
      return Exprs.add(v, Exprs.mul(instance, each));
    }
    if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)) {
      return new Expr.Load(buffer(buffer), indices(buffer, indices));
    }
    return super.expr(e);
  }

  /** The instance's rows of a tile, whose first dimension they are. */
  private Region part(Region region) {
    return part(region, region.tile().getFirst());
  }

  private Region part(Region region, Range cutRange) {
    Buffer buffer = region.buffer();
    if (!Exprs.isConst(cutRange.extent(), rows)) {
      throw new PassRefusal("a tile of " + buffer.name() + " does not have the item's rows");
    }
    boolean own = cut.containsKey(buffer);
    if (!own && buffer.scope() != Scope.GLOBAL && buffer.scope() != Scope.SHARED) {
      throw refusal(buffer);
    }
    List<Range> ranges = new ArrayList<>();
    for (Range range : region.ranges()) {
      Expr min = expr(range.min());
      ranges.add(
          range == cutRange
              ? new Range(own ? min : Exprs.add(min, Exprs.mul(instance, each)), Exprs.i32(each))
              : new Range(min, expr(range.extent())));
    }
    return new Region(buffer(buffer), ranges);
  }
}
