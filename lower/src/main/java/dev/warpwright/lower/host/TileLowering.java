package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Rewriter;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Substitution;
import dev.warpwright.ir.Type;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.Walk;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Simplifier;
import dev.warpwright.lower.pass.FreshNames;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Replaces tile statements by loops. A fill before a matrix multiplication becomes the start of its
 * accumulators, and an elementwise map after it follows each panel while that is in the cache.
 *
 * <p>Where no parallel loop is around (few rows: one block of them), the panels of a multiplication
 * are the parallel loop.
 */
final class TileLowering extends Rewriter {
  private final PanelPlan plan;
  private final VectorMachine target;
  private final MmaLowering mmas;
  private final Substitution buffers;
  private Bounds bounds;
  private boolean inParallel;

  TileLowering(PanelPlan plan, VectorMachine target, Bounds bounds) {
    this.plan = plan;
    this.target = target;
    this.mmas = new MmaLowering(plan, target);
    this.buffers = Substitution.ofBuffers(plan.replaced());
    this.bounds = bounds;
  }

  Stmt lower(Stmt body) {
    return stmt(body);
  }

  @Override
  protected Buffer buffer(Buffer buffer) {
    return plan.replaced().getOrDefault(buffer, buffer);
  }

  @Override
  public Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> sequence(stmts);
      case Stmt.For f -> loop(f);
      case Stmt.TileCopy copy ->
          new CopyLowering(target.lanes(), new Simplifier(bounds))
              .lower(
                  new Stmt.TileCopy(
                      buffers.region(copy.to()), buffers.region(copy.from()), copy.attrs()));
      case Stmt.TileFill fill -> fill(fill);
      case Stmt.TileMma mma -> mma(mma, false, null);
      case Stmt.TileMap map -> map(map, null, 0);
      case Stmt.TileReduce reduce -> reduce((Stmt.TileReduce) super.stmt(reduce));
      default -> super.stmt(s);
    };
  }

  /**
   * A parallel loop over blocks of rows that may turn out to have one iteration is written twice:
   * for that case, with the panels of each multiplication as parallel loops, and for the others.
   */
  private Stmt loop(Stmt.For f) {
    if (f.kind() != ForKind.PARALLEL || inParallel || target.cores() == 1) {
      return loop(f, f.kind());
    }
    if (bounds.of(f.extent()).max() <= 1) {
      return loop(f, ForKind.SERIAL);
    }
    Stmt many = loop(f, ForKind.PARALLEL);
    if (bounds.of(f.extent()).min() > 1) {
      return many;
    }
    Stmt single = FreshNames.of(loop(f, ForKind.SERIAL));
    if (!hasParallel(single)) {
      return many;
    }
    return new Stmt.If(Exprs.lt(f.extent(), Exprs.i32(2)), single, many);
  }

  private static boolean hasParallel(Stmt s) {
    boolean[] found = {false};
    Walk.statements(s, t -> found[0] |= t instanceof Stmt.For f && f.kind() == ForKind.PARALLEL);
    return found[0];
  }

  private Stmt loop(Stmt.For f, ForKind kind) {
    Bounds outer = bounds;
    boolean outerParallel = inParallel;
    bounds = bounds.withRange(f.var(), f.min(), f.extent());
    inParallel |= kind == ForKind.PARALLEL;
    Stmt body = stmt(f.body());
    bounds = outer;
    inParallel = outerParallel;
    return new Stmt.For(f.var(), f.min(), f.extent(), kind, f.axis(), f.attrs(), body);
  }

  // ---- sequences ---------------------------------------------------------------------------

  private Stmt sequence(List<Stmt> stmts) {
    List<Stmt> result = new ArrayList<>();
    int i = 0;
    while (i < stmts.size()) {
      int mmaAt = stmts.get(i) instanceof Stmt.TileFill ? i + 1 : i;
      if (mmaAt < stmts.size()
          && stmts.get(mmaAt) instanceof Stmt.TileMma mma
          && mmas.usesPanels(mma)) {
        boolean fresh = mmaAt > i && startsAtZero((Stmt.TileFill) stmts.get(i), mma);
        if (mmaAt > i && !fresh) {
          result.add(stmt(stmts.get(i)));
        }
        boolean fuses =
            mmaAt + 1 < stmts.size()
                && stmts.get(mmaAt + 1) instanceof Stmt.TileMap map
                && isEpilogue(map, mma);
        result.add(mma(mma, fresh, fuses ? (Stmt.TileMap) stmts.get(mmaAt + 1) : null));
        i = mmaAt + (fuses ? 2 : 1);
      } else {
        result.add(stmt(stmts.get(i++)));
      }
    }
    return Stmts.seq(result);
  }

  private static boolean startsAtZero(Stmt.TileFill fill, Stmt.TileMma mma) {
    return fill.to().equals(mma.c())
        && fill.value() instanceof Expr.FloatImm imm
        && Double.doubleToRawLongBits(imm.value()) == 0;
  }

  /**
   * Whether a map can follow each panel: it covers the rows and columns of the accumulator point by
   * point, may run over the padding, and writes nothing that later panels read.
   */
  private boolean isEpilogue(Stmt.TileMap map, Stmt.TileMma mma) {
    List<Range> tile = mma.c().ranges();
    if (map.vars().size() != 2
        || !map.extents().get(0).equals(tile.get(0).extent())
        || !map.extents().get(1).equals(tile.get(1).extent())) {
      return false;
    }
    for (Stmt.Store store : map.stores()) {
      if (store.buffer() == mma.a().buffer() || store.buffer() == mma.c().buffer()) {
        return false;
      }
    }
    boolean[] pointwise = {true};
    Walk.expressions(
        map,
        e -> {
          if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
              && buffer == mma.c().buffer()) {
            pointwise[0] &= indices.equals(List.copyOf(map.vars()));
          }
        });
    long nr = plan.panel(mma.b().buffer()).nr();
    boolean whole = tile.get(1).extent() instanceof Expr.IntImm imm && imm.value() % nr == 0;
    return pointwise[0] && Exprs.isConst(tile.get(0).min(), 0) && (whole || padded(map, nr));
  }

  // ---- tile statements ---------------------------------------------------------------------

  private Stmt fill(Stmt.TileFill fill) {
    Region to = buffers.region(fill.to());
    List<Range> tile = to.tile();
    Expr value = buffers.expr(fill.value());
    if (tile.isEmpty()) {
      return new Stmt.Store(to.buffer(), CopyLowering.indices(to, List.of()), value);
    }
    return box(
        tile.stream().map(Range::extent).toList(),
        false,
        at -> new Stmt.Store(to.buffer(), CopyLowering.indices(to, at), value));
  }

  private Stmt mma(Stmt.TileMma mma, boolean fresh, Stmt.@Nullable TileMap epilogue) {
    if (!mmas.usesPanels(mma)) {
      return mmas.general(
          mma, buffers.region(mma.c()), buffers.region(mma.a()), buffers.region(mma.b()));
    }
    BiFunction<Expr, Integer, Stmt> after =
        epilogue == null ? null : (column, count) -> map(epilogue, column, count);
    return mmas.lower(
        mma,
        buffer(mma.c().buffer()),
        buffer(mma.a().buffer()),
        fresh,
        !inParallel && target.cores() > 1,
        after);
  }

  /**
   * A map, over all columns or over {@code count} from {@code column} on, which may lie in the
   * padding.
   */
  private Stmt map(Stmt.TileMap map, @Nullable Expr column, int count) {
    List<Expr> extents = new ArrayList<>(map.extents());
    if (column != null) {
      extents.set(extents.size() - 1, Exprs.i32(count));
    }
    boolean padded = column != null || padded(map, target.lanes());
    return box(
        extents,
        padded,
        at -> {
          Map<Var, Expr> values = new HashMap<>();
          for (int d = 0; d < at.size(); d++) {
            boolean last = d == at.size() - 1;
            values.put(
                map.vars().get(d),
                last && column != null ? Exprs.add(column, at.get(d)) : at.get(d));
          }
          Substitution bind = new Substitution(values, plan.replaced());
          return Stmts.seq(map.stores().stream().map(bind::stmt).toList());
        });
  }

  /**
   * Whether a map may run past its last column up to a multiple: everything that it touches there
   * is padding of scratch memory or of a constant.
   */
  private boolean padded(Stmt.TileMap map, long multiple) {
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
    Buffer actual = buffer(buffer);
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

  private static boolean mentions(Expr e, Var v) {
    boolean[] found = {false};
    Walk.expressions(e, x -> found[0] |= x == v);
    return found[0];
  }

  /** Serial loops over a box, the last one in vectors where possible. */
  private Stmt box(List<Expr> extents, boolean padded, Function<List<Expr>, Stmt> body) {
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
                target.lanes(),
                padded,
                j -> {
                  List<Expr> at = new ArrayList<>(outer);
                  at.add(j);
                  return body.apply(at);
                }));
  }

  /** A reduction, its innermost loop in vectors of partial results where possible. */
  private Stmt reduce(Stmt.TileReduce r) {
    List<String> names = new ArrayList<>();
    for (int d = 0; d < r.extents().size(); d++) {
      names.add("i" + d);
    }
    return RowLoops.nest(
        names,
        r.extents(),
        at -> {
          Map<Var, Expr> values = new HashMap<>();
          for (int d = 0; d < at.size(); d++) {
            values.put(r.vars().get(d), at.get(d));
          }
          Substitution bind = Substitution.ofVars(values);
          List<Expr> to = r.indices().stream().map(bind::expr).toList();
          return reducePoint(r, to, bind.expr(r.value()));
        });
  }

  private Stmt reducePoint(Stmt.TileReduce r, List<Expr> to, Expr value) {
    List<String> names = new ArrayList<>();
    for (int d = 0; d < r.reduceExtents().size(); d++) {
      names.add("k" + d);
    }
    int last = names.size() - 1;
    List<Var> outerVars = r.reduceVars().subList(0, last);
    return RowLoops.nest(
        names.subList(0, last),
        r.reduceExtents().subList(0, last),
        outer -> {
          Map<Var, Expr> values = new HashMap<>();
          for (int d = 0; d < outer.size(); d++) {
            values.put(outerVars.get(d), outer.get(d));
          }
          Expr row = Substitution.ofVars(values).expr(value);
          return reduceRow(r, to, row, r.reduceVars().getLast(), r.reduceExtents().getLast());
        });
  }

  private Stmt reduceRow(Stmt.TileReduce r, List<Expr> to, Expr value, Var k, Expr extent) {
    Expr current = new Expr.Load(r.to(), to);
    int lanes = target.lanes();
    Stmt serial =
        Stmt.For.of(
            ForKind.SERIAL, k, extent, new Stmt.Store(r.to(), to, r.op().combine(current, value)));
    if (r.to().dtype() != DType.F32
        || !(extent instanceof Expr.IntImm imm)
        || imm.value() < 2L * lanes) {
      return serial;
    }
    return Partials.reduce(r.op(), r.to(), to, value, k, imm.value(), lanes, serial);
  }

  /** Reductions by vectors of partial results. */
  private static final class Partials {
    private Partials() {}

    static Stmt reduce(
        ReduceOp op,
        Buffer target,
        List<Expr> to,
        Expr value,
        Var k,
        long extent,
        int lanes,
        Stmt otherwise) {
      Buffer partial = Buffer.of("partial", DType.F32, Scope.LOCAL, lanes);
      Buffer spill = Buffer.of("spill", DType.F32, Scope.LOCAL, lanes);
      Var block = Var.index("kv");
      Var lane = Var.index("l");
      Expr ramp = new Expr.Ramp(Exprs.i32(0), 1, lanes);
      Expr shifted =
          Substitution.ofVars(Map.of(k, Exprs.add(Exprs.mul(block, lanes), lane))).expr(value);
      Stmt.For step =
          Stmt.For.of(
              ForKind.VECTORIZED,
              lane,
              Exprs.i32(lanes),
              new Stmt.Store(
                  partial, List.of(lane), op.combine(Exprs.load(partial, lane), shifted)));
      if (RowLoops.refused(step)) {
        return otherwise;
      }
      Var each = Var.index("l");
      List<Stmt> stmts = new ArrayList<>();
      stmts.add(
          new Stmt.Store(partial, List.of(ramp), new Expr.Broadcast(op.identity(Type.F32), lanes)));
      stmts.add(Stmt.For.of(ForKind.SERIAL, block, Exprs.i32(extent / lanes), step));
      stmts.add(new Stmt.Store(spill, List.of(ramp), Exprs.load(partial, ramp)));
      stmts.add(
          Stmt.For.of(
              ForKind.SERIAL,
              each,
              Exprs.i32(lanes),
              new Stmt.Store(
                  target, to, op.combine(new Expr.Load(target, to), Exprs.load(spill, each)))));
      long rest = extent % lanes;
      if (rest > 0) {
        Var tail = Var.index(k.name());
        Expr shiftedTail =
            Substitution.ofVars(Map.of(k, Exprs.add(tail, extent - rest))).expr(value);
        stmts.add(
            Stmt.For.of(
                ForKind.SERIAL,
                tail,
                Exprs.i32(rest),
                new Stmt.Store(target, to, op.combine(new Expr.Load(target, to), shiftedTail))));
      }
      return Stmts.alloc(List.of(partial, spill), Stmts.seq(stmts));
    }
  }
}
