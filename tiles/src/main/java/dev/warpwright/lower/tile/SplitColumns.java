package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.PassListener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Computes wide products with {@code part = n} by so many columns at a time: only that many
 * accumulators are alive at once.
 *
 * <pre>{@code
 * alloc acc: f32[32, 128] fragment            alloc acc: f32[32, 64] fragment
 *                                             alloc acc_1: f32[32, 64] fragment
 * tile.fill acc = 0                           tile.fill acc = 0
 * tile.mma acc += a * Ws^T [part = 64]   →    tile.mma acc += a * Ws[0 +: 64, …]^T
 * tile.map (r, n in 128) {                    tile.map (r, n in 64) { h[r, n] = f(acc[r, n], b[n]) }
 *   h[r, n] = f(acc[r, n], b[n]) }            tile.fill acc_1 = 0
 *                                             tile.mma acc_1 += a * Ws[64 +: 64, …]^T
 *                                             tile.map (r, n in 64) {
 *                                               h[r, n + 64] = f(acc_1[r, n], b[n + 64]) }
 * }</pre>
 *
 * <p>Requires: what touches the accumulators are a fill, products, and one map at its own point,
 * without anything between but what reads and writes none of what the map writes. Guarantees: no
 * product has {@code part}. Stands behind {@code PrefetchItems}: until then a product is one
 * statement for those that cut, pack and deal out.
 */
public final class SplitColumns extends Rewriter {
  private static final String PART = "part";

  private final Map<Buffer, Long> parts = new HashMap<>();
  private final Map<Buffer, List<Buffer>> made = new HashMap<>();
  private final Set<Buffer> done = new HashSet<>();

  private SplitColumns(PrimFunc func) {
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.TileMma mma && mma.attrs().has(PART)) {
            Buffer sums = mma.c().buffer();
            long part = mma.attrs().getLong(PART, 0);
            Long before = parts.put(sums, part);
            if (part <= 0
                || sums.rank() != 2
                || sums.extent(1) % part != 0
                || before != null && before != part
                || !mma.transposeB()
                || sums.scope() != Scope.FRAGMENT) {
              throw refusal(sums, part + " columns at a time are no equal parts");
            }
          }
        });
    parts.values().removeIf(part -> part == 0);
  }

  private static PassRefusal refusal(Buffer sums, String why) {
    return new PassRefusal("the GEMM into " + sums.name() + " cannot be split: " + why);
  }

  /** As {@link #apply(PrimFunc)}; tells of it where there is something to split. */
  public static PrimFunc apply(PrimFunc func, PassListener listener) {
    PrimFunc result = apply(func);
    return result == func ? func : listener.tell("SplitColumns", result);
  }

  /**
   * Splits.
   *
   * @throws PassRefusal if more than one map uses a product that asks for it
   */
  public static PrimFunc apply(PrimFunc func) {
    SplitColumns pass = new SplitColumns(func);
    if (pass.parts.isEmpty()) {
      return func;
    }
    PrimFunc result = func.withBody(pass.stmt(func.body()));
    for (Buffer sums : pass.parts.keySet()) {
      if (!pass.done.contains(sums)) {
        throw refusal(sums, "fill, GEMM and map do not stand in one row");
      }
    }
    return result;
  }

  private List<Buffer> made(Buffer sums) {
    return made.computeIfAbsent(
        sums,
        whole -> {
          long part = Objects.requireNonNull(parts.get(whole));
          List<Buffer> all = new ArrayList<>();
          for (int j = 0; j < whole.extent(1) / part; j++) {
            String name = j == 0 ? whole.name() : whole.name() + "_" + j;
            all.add(Buffer.of(name, whole.dtype(), whole.scope(), whole.extent(0), part));
          }
          return all;
        });
  }

  @Override
  public Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Alloc(Buffer buffer, Stmt body) when parts.containsKey(buffer) ->
          Stmts.alloc(made(buffer), stmt(body));
      case Stmt.Seq(List<Stmt> stmts) -> sequence(stmts);
      default -> super.stmt(s);
    };
  }

  private Stmt sequence(List<Stmt> stmts) {
    List<Stmt> result = new ArrayList<>();
    for (int i = 0; i < stmts.size(); i++) {
      Buffer sums = touched(stmts.get(i));
      if (sums == null || stmts.get(i) instanceof Stmt.Alloc || holdsAll(stmts.get(i), sums)) {
        result.add(stmt(stmts.get(i)));
        continue;
      }
      List<Stmt> run = new ArrayList<>();
      while (i < stmts.size() && !(stmts.get(i) instanceof Stmt.TileMap)) {
        run.add(stmts.get(i++));
      }
      if (i == stmts.size() || touched(stmts.get(i)) != sums || !done.add(sums)) {
        throw refusal(sums, "no map follows");
      }
      run.add(stmts.get(i));
      long part = Objects.requireNonNull(parts.get(sums));
      for (int j = 0; j < made(sums).size(); j++) {
        Part one = new Part(sums, made(sums).get(j), j * part);
        for (Stmt each : run) {
          result.add(FreshNames.of(one.stmt(each)));
        }
      }
    }
    return Stmts.seq(result);
  }

  /** Whether a statement is around all that there is of the accumulators. */
  private static boolean holdsAll(Stmt s, Buffer sums) {
    boolean[] found = {false, false};
    Walk.statements(
        s,
        inner -> {
          found[0] |= inner instanceof Stmt.TileMap && touches(inner, sums);
          found[1] |= inner instanceof Stmt.TileMma && touches(inner, sums);
        });
    return found[0] && found[1];
  }

  /** The accumulators of such a product that a statement touches first; null if none. */
  private @Nullable Buffer touched(Stmt s) {
    for (Buffer sums : parts.keySet()) {
      boolean[] found = {false};
      Walk.statements(s, inner -> found[0] |= touches(inner, sums));
      if (found[0]) {
        return sums;
      }
    }
    return null;
  }

  private static boolean touches(Stmt s, Buffer buffer) {
    Leaves leaves = Leaves.of(s);
    return leaves.reads().contains(buffer) || leaves.writes().contains(buffer);
  }

  /** What is done for some of the columns. */
  private static final class Part extends Rewriter {
    private final Buffer whole;
    private final Buffer part;
    private final long first;

    Part(Buffer whole, Buffer part, long first) {
      this.whole = whole;
      this.part = part;
      this.first = first;
    }

    @Override
    public Stmt stmt(Stmt s) {
      return switch (s) {
        case Stmt.TileFill fill when fill.to().buffer() == whole ->
            new Stmt.TileFill(Region.whole(part), fill.value(), fill.attrs());
        case Stmt.TileMma mma when mma.c().buffer() == whole -> product(mma);
        case Stmt.TileMap map when touches(map, whole) -> map(map);
        default -> super.stmt(s);
      };
    }

    private Stmt product(Stmt.TileMma mma) {
      if (!mma.c().equals(Region.whole(whole))) {
        throw refusal(whole, "it is the GEMM of a part");
      }
      List<Range> ranges = new ArrayList<>(mma.b().ranges());
      int rows = ranges.size() - 2;
      Expr min = Exprs.add(ranges.get(rows).min(), Exprs.i32(first));
      ranges.set(rows, new Range(min, Exprs.i32(part.extent(1))));
      Attrs attrs = mma.attrs().without(PART);
      Region b = new Region(mma.b().buffer(), ranges);
      return new Stmt.TileMma(
          Region.whole(part), mma.a(), b, mma.transposeA(), mma.transposeB(), attrs);
    }

    private Stmt map(Stmt.TileMap map) {
      if (map.vars().size() != 2
          || !Exprs.isConst(map.extents().get(1), whole.extent(1))
          || !Exprs.isConst(map.extents().get(0), whole.extent(0))) {
        throw refusal(whole, "its map has other points");
      }
      Var column = map.vars().get(1);
      List<Expr> point = List.copyOf(map.vars());
      Rewriter moved =
          new Rewriter() {
            @Override
            public Expr expr(Expr e) {
              if (e instanceof Expr.Load(Buffer buffer, List<Expr> at) && buffer == whole) {
                if (!at.equals(point)) {
                  throw refusal(whole, "its map reads another point");
                }
                return new Expr.Load(part, at);
              }
              return e == column ? Exprs.add(column, Exprs.i32(first)) : super.expr(e);
            }
          };
      List<Stmt.Store> stores = new ArrayList<>();
      for (Stmt.Store store : map.stores()) {
        stores.add((Stmt.Store) moved.stmt(store));
      }
      List<Expr> extents = List.of(map.extents().get(0), Exprs.i32(part.extent(1)));
      return new Stmt.TileMap(map.vars(), extents, stores, map.attrs());
    }
  }
}
