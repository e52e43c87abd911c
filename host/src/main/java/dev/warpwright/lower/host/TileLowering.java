package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Simplifier;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Replaces tile statements by loops. A fill before a matrix multiplication becomes the start of its
 * accumulators, and an elementwise map after it follows each panel while that is in the cache.
 *
 * <p>Where no parallel loop is around (few rows: one block of them), the panels of a multiplication
 * are the parallel loop.
 */
final class TileLowering extends Rewriter {
  /** Elements that are worth waking other cores for. */
  private static final long WORTH_SPREADING = 1 << 16;

  private final PanelPlan plan;
  private final VectorMachine target;
  private final HostMmaLowering mmas;
  private final Substitution buffers;
  private Bounds bounds;
  private boolean inParallel;

  TileLowering(PanelPlan plan, VectorMachine target, Bounds bounds) {
    this.plan = plan;
    this.target = target;
    this.mmas = new HostMmaLowering(plan, target);
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
          spread(
              copy.to().tile().stream().map(Range::extent).toList(),
              new HostCopyLowering(target.lanes(), new Simplifier(bounds))
                  .lower(
                      new Stmt.TileCopy(
                          buffers.region(copy.to()), buffers.region(copy.from()), copy.attrs())));
      case Stmt.TileFill fill -> fill(fill);
      case Stmt.TileMma mma -> mma(mma, false, null);
      case Stmt.TileMap map -> spread(map.extents(), maps().lower(map));
      case Stmt.TileReduce reduce ->
          new HostReduceLowering(target.lanes()).lower((Stmt.TileReduce) super.stmt(reduce));
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

  /** Many elements, and no parallel loop around: the cores share the rows. */
  private Stmt spread(List<Expr> extents, Stmt s) {
    long elements = 1;
    for (Expr extent : extents) {
      elements = extent instanceof Expr.IntImm imm ? elements * imm.value() : 0;
    }
    return !inParallel
            && target.cores() > 1
            && elements >= WORTH_SPREADING
            && s instanceof Stmt.For f
            && f.kind() == ForKind.SERIAL
        ? new Stmt.For(
            f.var(), f.min(), f.extent(), ForKind.PARALLEL, f.axis(), f.attrs(), f.body())
        : s;
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
   * Whether a map can follow a part of the product at a time: it covers the rows and columns of the
   * accumulator point by point, may run over the padding, and writes nothing that other parts read.
   */
  private boolean isEpilogue(Stmt.TileMap map, Stmt.TileMma mma) {
    Buffer c = mma.c().buffer();
    List<Range> tile = mma.c().ranges();
    List<Expr> point = List.copyOf(map.vars());
    if (map.vars().size() != 2
        || !map.extents().get(0).equals(tile.get(0).extent())
        || !map.extents().get(1).equals(tile.get(1).extent())
        || !Exprs.isConst(tile.get(0).min(), 0)) {
      return false;
    }
    for (Stmt.Store store : map.stores()) {
      boolean inPlace = map.stores().size() == 1 && store.indices().equals(point);
      if (store.buffer() == mma.a().buffer() || (store.buffer() == c && !inPlace)) {
        return false;
      }
    }
    boolean[] pointwise = {true};
    Walk.expressions(
        map,
        e -> {
          if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices) && buffer == c) {
            pointwise[0] &= indices.equals(point);
          }
        });
    long nr = plan.panel(mma.b().buffer()).nr();
    boolean whole = tile.get(1).extent() instanceof Expr.IntImm imm && imm.value() % nr == 0;
    return pointwise[0] && (whole || maps().padded(map, nr));
  }

  // ---- tile statements ---------------------------------------------------------------------

  private Stmt fill(Stmt.TileFill fill) {
    Region to = buffers.region(fill.to());
    List<Range> tile = to.tile();
    Expr value = buffers.expr(fill.value());
    if (tile.isEmpty()) {
      return new Stmt.Store(to.buffer(), HostCopyLowering.indices(to, List.of()), value);
    }
    return HostMapLowering.box(
        tile.stream().map(Range::extent).toList(),
        target.lanes(),
        at -> new Stmt.Store(to.buffer(), HostCopyLowering.indices(to, at), value));
  }

  private Stmt mma(Stmt.TileMma mma, boolean fresh, Stmt.@Nullable TileMap epilogue) {
    if (!mmas.usesPanels(mma)) {
      return mmas.general(
          mma, buffers.region(mma.c()), buffers.region(mma.a()), buffers.region(mma.b()));
    }
    return mmas.lower(
        mma,
        buffer(mma.c().buffer()),
        buffer(mma.a().buffer()),
        fresh,
        !inParallel && target.cores() > 1,
        epilogue == null ? null : new MapEpilogue(epilogue, mma.c().buffer(), maps()));
  }

  private HostMapLowering maps() {
    return new HostMapLowering(plan, target.lanes(), bounds);
  }

  /** A map that follows a product. */
  private record MapEpilogue(Stmt.TileMap map, Buffer c, HostMapLowering maps)
      implements HostMmaLowering.Epilogue {
    @Override
    public MicroKernel.@Nullable OnRegisters onRegisters() {
      return maps.fitsRegisters(map, c)
          ? (acc, row, column, r, v) -> maps.onRegisters(map, c, acc, row, column, r, v)
          : null;
    }

    @Override
    public Stmt onMemory(Expr row, int rows, Expr column, int columns) {
      return maps.block(map, row, rows, column, columns);
    }
  }
}
