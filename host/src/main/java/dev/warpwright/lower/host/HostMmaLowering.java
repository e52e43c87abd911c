package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Matrix multiplications as loops over panels and blocks of rows around {@link MicroKernel}s. */
final class HostMmaLowering {
  /** Multiply-adds below which a parallel loop costs more than it gains. */
  private static final long WORTH_PARALLEL = 1 << 19;

  /** Terms of a slice: a panel's slice is 256 KB then, which a second-level cache holds. */
  private static final long DEPTH = 2048;

  /** Rows from which on accumulating a slice at a time costs less than it gains. */
  private static final int BLOCKED_ROWS = 24;

  /** Rows of a right operand that are packed at a time. */
  private static final int PACKED_TERMS = 16;

  /** Groups of panels that a core takes at least, so that a slow one delays little. */
  private static final int GROUPS_PER_CORE = 4;

  private final PanelPlan plan;
  private final VectorMachine target;

  HostMmaLowering(PanelPlan plan, VectorMachine target) {
    this.plan = plan;
    this.target = target;
  }

  /**
   * Whether the multiplication can use panels: the right operand is packed, the tile covers whole
   * panels or the end of the matrix, and the accumulator's rows have room for whole panels.
   */
  boolean usesPanels(Stmt.TileMma mma) {
    PanelPlan.Panel panel = plan.panels().get(mma.b().buffer());
    if (panel == null
        || mma.transposeA()
        || mma.c().ranges().size() != 2
        || mma.a().ranges().size() != 2) {
      return false;
    }
    Range columns = mma.b().ranges().get(panel.columnDimension());
    Buffer c = mma.c().buffer();
    long room = constant(plan.replaced().getOrDefault(c, c).shape().getLast());
    if (room < PanelPlan.roundUp(constant(columns.extent()), panel.nr())) {
      return false;
    }
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

  /** What follows a product. */
  interface Epilogue {
    /** Stores from registers, or null where it is too long for that. */
    MicroKernel.@Nullable OnRegisters onRegisters();

    /** For some rows and columns of the accumulator in memory. */
    Stmt onMemory(Expr row, int rows, Expr column, int columns);
  }

  /**
   * The loops.
   *
   * @param c the accumulator with padded rows, in place of the one that {@code mma} names
   * @param a the left operand likewise
   * @param fresh whether c is zero before
   * @param parallel whether panels may run on several cores
   * @param epilogue what follows, or null
   */
  Stmt lower(
      Stmt.TileMma mma,
      Buffer c,
      Buffer a,
      boolean fresh,
      boolean parallel,
      @Nullable Epilogue epilogue) {
    Product product = new Product(mma, c, a, fresh, epilogue);
    boolean worth = parallel && product.work() >= WORTH_PARALLEL && product.count > 1;
    return product.rows >= BLOCKED_ROWS && product.depth > DEPTH
        ? product.blocked(worth ? target.cores() : 1)
        : product.whole(worth ? ForKind.PARALLEL : ForKind.SERIAL);
  }

  /** One multiplication. */
  private final class Product {
    private final Stmt.TileMma mma;
    private final Buffer c;
    private final Buffer a;
    private final PanelPlan.Panel panel;
    private final boolean fresh;
    private final @Nullable Epilogue epilogue;
    private final int rows;
    private final long count;
    private final long depth;
    private final long firstPanel;
    private final Expr firstK;

    Product(Stmt.TileMma mma, Buffer c, Buffer a, boolean fresh, @Nullable Epilogue epilogue) {
      this.mma = mma;
      this.c = c;
      this.a = a;
      this.panel = plan.panel(mma.b().buffer());
      this.fresh = fresh;
      this.epilogue = epilogue;
      Range columns = mma.b().ranges().get(panel.columnDimension());
      Range terms = mma.b().ranges().get(1 - panel.columnDimension());
      this.rows = (int) constant(mma.c().ranges().get(0).extent());
      this.count = (constant(columns.extent()) + panel.nr() - 1) / panel.nr();
      this.depth = constant(terms.extent());
      this.firstPanel = constant(columns.min()) / panel.nr();
      this.firstK = terms.min();
    }

    long work() {
      return rows * count * panel.nr() * depth;
    }

    /** Panels over all of k: the epilogue while the sums are in registers, if it is short. */
    Stmt whole(ForKind kind) {
      int vectors = panel.nr() / target.lanes();
      long side =
          Math.min(count, MicroKernel.panels(Math.min(rows, most(vectors)), vectors, target));
      long groups = count / side;
      long done = groups * side;
      List<Stmt> stmts = new ArrayList<>();
      stmts.add(Stmts.loop(kind, "p", groups, p -> panels(Exprs.mul(p, side), (int) side)));
      if (done < count) {
        stmts.add(panels(Exprs.i32(done), (int) (count - done)));
      }
      return Stmts.seq(stmts);
    }

    private Stmt panels(Expr p, int side) {
      MicroKernel.OnRegisters stores = epilogue == null ? null : epilogue.onRegisters();
      return rowLoops(
          new MicroKernel(c, a, panel, depth, target.lanes(), fresh, side, stores),
          p,
          Exprs.i32(0),
          epilogue != null && stores == null);
    }

    private Stmt rowLoops(MicroKernel kernel, Expr p, Expr k, boolean after) {
      Expr column = Exprs.mul(p, panel.nr());
      List<Stmt> body = new ArrayList<>();
      int done = 0;
      for (int[] block : rowBlocks(rows, panel.nr() / target.lanes())) {
        int size = block[0];
        int first = done;
        body.add(
            Stmts.loop(
                ForKind.SERIAL,
                "r",
                block[1],
                r -> {
                  Expr row = Exprs.add(Exprs.mul(r, size), first);
                  Stmt micro =
                      kernel.of(
                          size,
                          Exprs.add(mma.c().ranges().get(0).min(), row),
                          column,
                          Exprs.add(mma.a().ranges().get(0).min(), row),
                          Exprs.add(mma.a().ranges().get(1).min(), k),
                          Exprs.add(p, firstPanel),
                          Exprs.add(firstK, k));
                  return after && epilogue != null
                      ? Stmts.seq(
                          micro, epilogue.onMemory(row, size, column, kernel.panels() * panel.nr()))
                      : micro;
                }));
        done += size * block[1];
      }
      return Stmts.seq(body);
    }

    /**
     * Many rows over many terms: slices of k that keep a panel's slice and the rows' in the core's
     * caches, for a group of panels at a time. The accumulators pass through memory between slices.
     */
    Stmt blocked(int cores) {
      long slices = (depth + DEPTH - 1) / DEPTH;
      long slice = PanelPlan.roundUp((depth + slices - 1) / slices, target.lanes());
      long whole = depth / slice;
      long rest = depth % slice;
      long groups = cores == 1 ? 1 : Math.min(count, GROUPS_PER_CORE * (long) cores);
      long size = (count + groups - 1) / groups;
      groups = (count + size - 1) / size;
      boolean even = count % size == 0;
      return Stmts.loop(
          cores == 1 ? ForKind.SERIAL : ForKind.PARALLEL,
          "g",
          groups,
          g -> {
            Expr first = Exprs.mul(g, size);
            Expr panels =
                even
                    ? Exprs.i32(size)
                    : Exprs.min(Exprs.i32(size), Exprs.sub(Exprs.i32(count), first));
            List<Stmt> body = new ArrayList<>();
            if (fresh) {
              body.add(panelLoop(first, panels, this::zero));
            }
            body.add(
                Stmts.loop(
                    ForKind.SERIAL,
                    "s",
                    whole,
                    s -> panelLoop(first, panels, p -> slice(p, Exprs.mul(s, slice), slice))));
            if (rest > 0) {
              body.add(panelLoop(first, panels, p -> slice(p, Exprs.i32(whole * slice), rest)));
            }
            if (epilogue != null) {
              body.add(
                  panelLoop(
                      first,
                      panels,
                      p ->
                          epilogue.onMemory(
                              Exprs.i32(0), rows, Exprs.mul(p, panel.nr()), panel.nr())));
            }
            return Stmts.seq(body);
          });
    }

    private Stmt slice(Expr p, Expr k, long terms) {
      return rowLoops(
          new MicroKernel(c, a, panel, terms, target.lanes(), false, 1, null), p, k, false);
    }

    private Stmt zero(Expr p) {
      Expr column = Exprs.mul(p, panel.nr());
      return HostMapLowering.box(
          List.of(Exprs.i32(rows), Exprs.i32(panel.nr())),
          target.lanes(),
          at ->
              new Stmt.Store(
                  c,
                  List.of(
                      Exprs.add(mma.c().ranges().get(0).min(), at.get(0)),
                      Exprs.add(column, at.get(1))),
                  Exprs.zero(Type.F32)));
    }

    private static Stmt panelLoop(Expr first, Expr panels, Function<Expr, Stmt> body) {
      if (Exprs.isConst(panels, 1)) {
        return body.apply(first);
      }
      Var p = Var.index("p");
      return Stmt.For.of(ForKind.SERIAL, p, panels, body.apply(Exprs.add(first, p)));
    }
  }

  private int most(int vectors) {
    return MicroKernel.mostRows(vectors, target);
  }

  /** Rows cut into blocks of nearly one size: {size, how many}. */
  private List<int[]> rowBlocks(int rows, int vectors) {
    int most = most(vectors);
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
    return panel.columnDimension() == 1 ? packRows(panel) : packColumns(panel);
  }

  /** Some terms of all panels at a time: long runs are read and written. */
  private Stmt packRows(PanelPlan.Panel panel) {
    long depth = panel.depth();
    long blocks = (depth + PACKED_TERMS - 1) / PACKED_TERMS;
    long columns = panel.original().extent(1);
    int nr = panel.nr();
    return Stmts.loop(
        ForKind.PARALLEL,
        "kb",
        blocks,
        kb -> {
          Expr first = Exprs.mul(kb, PACKED_TERMS);
          Expr terms =
              depth % PACKED_TERMS == 0
                  ? Exprs.i32(PACKED_TERMS)
                  : Exprs.min(Exprs.i32(PACKED_TERMS), Exprs.sub(Exprs.i32(depth), first));
          List<Stmt> body = new ArrayList<>();
          if (columns >= nr) {
            body.add(
                Stmts.loop(
                    ForKind.SERIAL,
                    "p",
                    columns / nr,
                    p -> packedTerms(panel, p, first, terms, nr)));
          }
          if (columns % nr != 0) {
            Expr last = Exprs.i32(columns / nr);
            body.add(packedTerms(panel, last, first, terms, (int) (columns % nr)));
          }
          return Stmts.seq(body);
        });
  }

  /** Columns beyond {@code columns} are not written: what is computed from them is not used. */
  private Stmt packedTerms(PanelPlan.Panel panel, Expr p, Expr first, Expr terms, int columns) {
    return RowLoops.nest(
        List.of("k"),
        List.of(terms),
        at -> {
          Expr k = Exprs.add(first, at.getFirst());
          return RowLoops.row(
              "j",
              Exprs.i32(columns),
              target.lanes(),
              false,
              j -> {
                Expr column = Exprs.add(Exprs.mul(p, panel.nr()), j);
                return new Stmt.Store(
                    panel.buffer(), List.of(p, k, j), Exprs.load(panel.original(), k, column));
              });
        });
  }

  private Stmt packColumns(PanelPlan.Panel panel) {
    int nr = panel.nr();
    long columns = panel.original().extent(0);
    Expr zero = Exprs.zero(Type.of(panel.original().dtype()));
    return Stmts.loop(
        ForKind.PARALLEL,
        "p",
        panel.buffer().extent(0),
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
                          Expr value = Exprs.load(panel.original(), column, k);
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
    Expr depth = a.ranges().get(a.ranges().size() - (mma.transposeA() ? 2 : 1)).extent();
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
          Expr left =
              new Expr.Load(
                  a.buffer(), mma.transposeA() ? matrix(a, k, at.get(0)) : matrix(a, at.get(0), k));
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
