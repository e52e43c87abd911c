package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.type.DType;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * First operands of GEMMs by fma that lie in shared memory with their rows side by side: a thread
 * of a warp reads four rows of a step of K at once, which other lanes read, too.
 *
 * <p>A column's rows are four words longer than they are many, so columns four apart begin 16 banks
 * apart: accesses of 16 bytes by eight lanes to two such columns have no bank conflicts, nor have
 * those of 4 bytes by 16 lanes to each of two.
 */
public final class MMajor {
  /** Elements of an access of 16 bytes. */
  public static final int VECTOR = 4;

  private static final int WARP = 32;

  /** Rows of a copy's access, two lanes a row: 32 bytes of each, a sector. */
  private static final int ROWS = 16;

  /** Batches that are written out one after the other. */
  private static final int MOST_BATCHES = 3;

  /** Loads that are under way at once. */
  private static final int BATCH = 8;

  private MMajor() {}

  /** Whether a GEMM takes its first operand so: its attribute {@code vecM} says it. */
  public static boolean isFor(Stmt.TileMma mma) {
    return mma.attrs().getLong("vecM", 1) > 1;
  }

  /** A tile as it lies then. */
  public static Buffer of(Buffer tile) {
    long rows = tile.extent(0);
    long columns = tile.extent(1);
    return tile.withLayout(
        Layout.strided(new long[] {rows, columns}, new long[] {1, rows + VECTOR}));
  }

  /** Whether a tile lies so. */
  public static boolean is(Buffer tile) {
    return tile.scope() == Scope.SHARED
        && tile.rank() == 2
        && tile.dtype() == DType.F32
        && tile.extent(0) % VECTOR == 0
        && tile.layout() != null
        && tile.layout().swizzle().equals(Layout.Swizzle.NONE)
        && tile.layout().offset(1, 0) == 1
        && tile.layout().offset(0, 1) % VECTOR == 0;
  }

  /** Whether a thread holds runs of four rows and of four columns ({@code vecM}). */
  static boolean areRuns(FragmentLayout layout) {
    List<Digit> digits = layout.registerDigits();
    return digits.size() == 4
        && digits.get(0).equals(new Digit(VECTOR, 0, 1))
        && digits.get(1).rowStep() == 0
        && digits.get(2).equals(new Digit(VECTOR, 1, 0))
        && digits.get(3).colStep() == 0;
  }

  /** Registers from a row of a run to the next. */
  static long rowStep(FragmentLayout layout) {
    return layout.registerDigits().get(0).extent() * layout.registerDigits().get(1).extent();
  }

  /** Visits every element that a thread holds in runs of rows of one column. */
  static Stmt overFragment(
      FragmentLayout layout, ThreadCode code, Function<ThreadCode.Run, Stmt> body) {
    List<Digit> digits = layout.registerDigits();
    long step = rowStep(layout);
    Var row = Var.index("row");
    Var col = Var.index("col");
    Stmt loops =
        Stmts.loop(
            ForKind.UNROLLED,
            "r3",
            digits.get(3).extent(),
            g ->
                Stmts.loop(
                    ForKind.UNROLLED,
                    "r1",
                    digits.get(1).extent(),
                    s ->
                        Stmts.loop(
                            ForKind.UNROLLED,
                            "r0",
                            VECTOR,
                            n ->
                                body.apply(
                                    new ThreadCode.Run(
                                        Exprs.add(row, Exprs.mul(g, digits.get(3).rowStep())),
                                        Exprs.add(
                                            Exprs.add(col, Exprs.mul(s, digits.get(1).colStep())),
                                            n),
                                        Exprs.add(
                                            Exprs.add(Exprs.mul(g, VECTOR * step), n),
                                            Exprs.mul(s, VECTOR)),
                                        VECTOR)))));
    return new Stmt.Let(
        row,
        layout.rowOfThread(code.thread()),
        new Stmt.Let(col, layout.colOfThread(code.thread()), loops));
  }

  /** The same elements by columns and rows. */
  static Buffer turned(Buffer tile) {
    long rows = tile.extent(0);
    long columns = tile.extent(1);
    long leading = Objects.requireNonNull(tile.layout()).offset(0, 1);
    return Buffer.of(tile.name(), tile.dtype(), Scope.SHARED, columns, rows)
        .withLayout(Layout.strided(new long[] {columns, rows}, new long[] {leading, 1}));
  }

  /**
   * Moves four neighbouring rows of a column into registers.
   *
   * @param indices of the first in the tile
   */
  public static Stmt load(ThreadCode code, Buffer to, Expr at, Buffer tile, List<Expr> indices) {
    return ThreadCode.move(
        to, List.of(at), code.turned(tile), List.of(indices.get(1), indices.get(0)), VECTOR);
  }

  /** Moves registers to four neighbouring rows of a column. */
  static Stmt store(ThreadCode code, Buffer tile, List<Expr> indices, Buffer from) {
    return ThreadCode.move(
        code.turned(tile),
        List.of(indices.get(1), indices.get(0)),
        from,
        List.of(Exprs.i32(0)),
        VECTOR);
  }

  /**
   * Whether {@link #copy} takes a copy: f32 rows of whole 16 bytes in memory, by one warp.
   *
   * @param threads that copy
   */
  static boolean takes(Stmt.TileCopy copy, int threads) {
    Buffer from = copy.from().buffer();
    Region to = copy.to();
    return threads == WARP
        && is(to.buffer())
        && from.scope() == Scope.GLOBAL
        && from.dtype() == DType.F32
        && from.layout() == null
        && from.rank() == 2
        && from.alignment() >= VECTOR * Float.BYTES
        && to.tile().size() == 2
        && copy.from().tile().size() == 2
        && Guards.extent(to.tile().get(0)) % ROWS == 0
        && Guards.extent(to.tile().get(1)) % (2 * VECTOR) == 0
        && from.extent(1) % VECTOR == 0
        && CopyLowering.multipleOf(copy.from().ranges().get(1).min(), VECTOR);
  }

  /**
   * Rows from memory, 16 by 8 columns at a time: a lane reads four columns of a row and writes them
   * to four columns of the tile, all loads of a batch ahead of its stores.
   */
  static Stmt copy(Stmt.TileCopy copy, ThreadCode code) {
    Region to = copy.to();
    Region from = copy.from();
    long pairs = Guards.extent(to.tile().get(1)) / (2 * VECTOR);
    long count = Guards.extent(to.tile().get(0)) / ROWS * pairs;
    int batch = BATCH;
    while (count % batch != 0) {
      batch--;
    }
    int loads = batch;
    return Stmts.loop(
        count / batch <= MOST_BATCHES ? ForKind.UNROLLED : ForKind.SERIAL,
        "batch",
        count / batch,
        b ->
            ThreadCode.withTemporary(
                "loaded",
                DType.F32,
                loads * VECTOR,
                loaded ->
                    Stmts.seq(
                        Stmts.loop(
                            ForKind.UNROLLED,
                            "it",
                            loads,
                            it -> {
                              Expr access = Exprs.add(Exprs.mul(b, loads), it);
                              return load(from, loaded, it, point(access, pairs, code.thread()));
                            }),
                        Stmts.loop(
                            ForKind.UNROLLED,
                            "it",
                            loads,
                            it -> {
                              Expr access = Exprs.add(Exprs.mul(b, loads), it);
                              List<Expr> point = point(access, pairs, code.thread());
                              return Stmts.loop(
                                  ForKind.UNROLLED,
                                  "v",
                                  VECTOR,
                                  v ->
                                      new Stmt.Store(
                                          to.buffer(),
                                          Guards.indices(
                                              to,
                                              List.of(point.get(0), Exprs.add(point.get(1), v))),
                                          Exprs.load(loaded, element(it, v))));
                            }))));
  }

  private static Expr element(Expr it, Expr v) {
    return Exprs.add(Exprs.mul(it, VECTOR), v);
  }

  /** A lane's row and first column in an access: lanes 2r and 2r + 1 have row r. */
  private static List<Expr> point(Expr access, long pairs, Expr lane) {
    Expr row = Exprs.add(Exprs.mul(Exprs.div(access, pairs), ROWS), Exprs.div(lane, 2));
    Expr column =
        Exprs.add(
            Exprs.mul(Exprs.mod(access, pairs), 2L * VECTOR),
            Exprs.mul(Exprs.mod(lane, 2), VECTOR));
    return List.of(row, column);
  }

  private static Stmt load(Region from, Buffer loaded, Expr it, List<Expr> point) {
    List<Expr> indices = Guards.indices(from, point);
    List<Expr> at = ThreadCode.ramped(List.of(Exprs.mul(it, VECTOR)), VECTOR);
    Expr value = new Expr.Load(from.buffer(), ThreadCode.ramped(indices, VECTOR));
    Expr inside = Guards.inside(from, indices);
    if (!Exprs.isConst(inside, 1)) {
      value =
          new Expr.Select(
              new Expr.Broadcast(inside, VECTOR), value, new Expr.Broadcast(Exprs.f32(0), VECTOR));
    }
    return new Stmt.Store(loaded, at, value);
  }
}
