package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Type;
import dev.warpwright.ir.Var;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Matrix multiplications as loops over panels and blocks of rows around {@link MicroKernel}s. */
final class MmaLowering {
  /** Multiply-adds below which a parallel loop costs more than it gains. */
  private static final long WORTH_PARALLEL = 1 << 19;

  private final PanelPlan plan;
  private final VectorMachine target;

  MmaLowering(PanelPlan plan, VectorMachine target) {
    this.plan = plan;
    this.target = target;
  }

  /**
   * Whether the multiplication can use panels: the right operand is packed and the tile covers
   * whole panels or the end of the matrix.
   */
  boolean usesPanels(Stmt.TileMma mma) {
    PanelPlan.Panel panel = plan.panels().get(mma.b().buffer());
    if (panel == null || mma.c().ranges().size() != 2 || mma.a().ranges().size() != 2) {
      return false;
    }
    Range columns = mma.b().ranges().get(panel.columnDimension());
    long total = panel.original().extent(panel.columnDimension());
    return constant(columns.extent()) > 0
        && constant(mma.c().ranges().get(0).extent()) > 0
        && constant(mma.a().ranges().get(1).extent()) > 0
        && constant(columns.min()) >= 0
        && constant(columns.min()) % panel.nr() == 0
        && (constant(columns.extent()) % panel.nr() == 0
            || constant(columns.min()) + constant(columns.extent()) == total)
        && Exprs.isConst(mma.c().ranges().get(1).min(), 0)
        && mma.c().buffer().dtype() == DType.F32;
  }

  private static long constant(Expr e) {
    return e instanceof Expr.IntImm imm ? imm.value() : -1;
  }

  /**
   * The loops.
   *
   * @param c the accumulator with padded rows, in place of the one that {@code mma} names
   * @param a the left operand likewise
   * @param fresh whether c is zero before
   * @param parallel whether panels may run on several cores
   * @param epilogue what follows for a range of columns (first, count) of each panel, or null
   */
  Stmt lower(
      Stmt.TileMma mma,
      Buffer c,
      Buffer a,
      boolean fresh,
      boolean parallel,
      @Nullable BiFunction<Expr, Integer, Stmt> epilogue) {
    PanelPlan.Panel panel = plan.panel(mma.b().buffer());
    int nr = panel.nr();
    Range columns = mma.b().ranges().get(panel.columnDimension());
    Range depth = mma.b().ranges().get(1 - panel.columnDimension());
    int rows = (int) constant(mma.c().ranges().get(0).extent());
    long count = (constant(columns.extent()) + nr - 1) / nr;
    long k = constant(depth.extent());
    MicroKernel kernel = new MicroKernel(c, a, panel, k, target.lanes(), fresh);
    boolean worth = parallel && (long) rows * count * nr * k >= WORTH_PARALLEL && count > 1;
    return Stmts.loop(
        worth ? ForKind.PARALLEL : ForKind.SERIAL,
        "p",
        count,
        p -> {
          Expr column = Exprs.mul(p, nr);
          List<Stmt> body = new ArrayList<>();
          int done = 0;
          for (int[] block : rowBlocks(rows, nr / target.lanes())) {
            int size = block[0];
            int first = done;
            body.add(
                Stmts.loop(
                    ForKind.SERIAL,
                    "r",
                    block[1],
                    r -> {
                      Expr row = Exprs.add(Exprs.mul(r, size), first);
                      return kernel.of(
                          size,
                          Exprs.add(mma.c().ranges().get(0).min(), row),
                          column,
                          Exprs.add(mma.a().ranges().get(0).min(), row),
                          mma.a().ranges().get(1).min(),
                          Exprs.add(p, constant(columns.min()) / nr),
                          depth.min());
                    }));
            done += block[0] * block[1];
          }
          if (epilogue != null) {
            body.add(epilogue.apply(column, nr));
          }
          return Stmts.seq(body);
        });
  }

  /** Rows cut into blocks of nearly one size: {size, how many}. */
  private List<int[]> rowBlocks(int rows, int vectors) {
    int most = MicroKernel.mostRows(vectors, target);
    int blocks = (rows + most - 1) / most;
    int size = rows / blocks;
    int larger = rows % blocks;
    List<int[]> result = new ArrayList<>();
    if (larger > 0) {
      result.add(new int[] {size + 1, larger});
    }
    result.add(new int[] {size, blocks - larger});
    return result;
  }

  /** Packs a right operand that is no constant, into panels in scratch memory. */
  Stmt pack(PanelPlan.Panel panel) {
    int nr = panel.nr();
    long columns = panel.original().extent(panel.columnDimension());
    long panels = panel.buffer().extent(0);
    Expr zero = Exprs.zero(Type.of(panel.original().dtype()));
    return Stmts.loop(
        ForKind.PARALLEL,
        "p",
        panels,
        p ->
            Stmts.loop(
                ForKind.SERIAL,
                "k",
                panel.depth(),
                k ->
                    Stmts.loop(
                        ForKind.SERIAL,
                        "j",
                        nr,
                        j -> {
                          Expr column = Exprs.add(Exprs.mul(p, nr), j);
                          Expr[] at =
                              panel.columnDimension() == 0
                                  ? new Expr[] {column, k}
                                  : new Expr[] {k, column};
                          Expr value = Exprs.load(panel.original(), at);
                          if (columns % nr != 0) {
                            value =
                                new Expr.Select(Exprs.lt(column, Exprs.i32(columns)), value, zero);
                          }
                          return new Stmt.Store(panel.buffer(), List.of(p, k, j), value);
                        })));
  }

  /** Any multiplication, element by element. */
  Stmt general(Stmt.TileMma mma, Region c, Region a, Region b) {
    List<Range> ct = c.tile();
    Expr rows = c.ranges().get(c.ranges().size() - 2).extent();
    Expr columns = c.ranges().getLast().extent();
    Expr depth = a.ranges().getLast().extent();
    if (ct.size() > 2) {
      throw new IllegalArgumentException("matrix multiplication of more than two dimensions: " + c);
    }
    DType dtype = c.buffer().dtype();
    return RowLoops.nest(
        List.of("i", "j"),
        List.of(rows, columns),
        at -> {
          Var k = Var.index("k");
          List<Expr> ci = matrix(c, at.get(0), at.get(1));
          Expr left = new Expr.Load(a.buffer(), matrix(a, at.get(0), k));
          Expr right =
              new Expr.Load(
                  b.buffer(), mma.transposeB() ? matrix(b, at.get(1), k) : matrix(b, k, at.get(1)));
          return Stmt.For.of(
              ForKind.SERIAL,
              k,
              depth,
              new Stmt.Store(
                  c.buffer(),
                  ci,
                  Exprs.fma(
                      Exprs.cast(dtype, left),
                      Exprs.cast(dtype, right),
                      new Expr.Load(c.buffer(), ci))));
        });
  }

  /** Coordinates of (row, column) in the last two dimensions of a region. */
  private static List<Expr> matrix(Region region, Expr row, Expr column) {
    List<Expr> indices = new ArrayList<>();
    int rank = region.ranges().size();
    for (int d = 0; d < rank; d++) {
      Expr min = region.ranges().get(d).min();
      indices.add(
          d == rank - 2 ? Exprs.add(min, row) : d == rank - 1 ? Exprs.add(min, column) : min);
    }
    return indices;
  }
}
