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
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.List;
import java.util.Locale;

/**
 * The way of a result from registers through shared memory to global memory: each consumer
 * warpgroup writes panels of 64 rows, two of which take turns, and bulk stores carry them away
 * while it goes on. So the producer fills the ring for the next tile meanwhile, and edges need no
 * guards.
 *
 * <p>Where the fragments' rows are the result's columns, matrices are transposed on their way to
 * shared memory; a panel has 64 of those columns then, and as many rows as divide the tile's.
 *
 * <p>Rows of a result that are no multiples of 16 bytes, which bulk stores refuse, the warpgroup's
 * threads carry away themselves: neighbouring threads store neighbouring elements, so sectors are
 * written whole, which they are not from registers, where a warp holds 8 rows of 8 elements.
 *
 * @param panels shared {@code [2 · consumers, height, width]}
 * @param slots panels of a warpgroup
 * @param byThreads whether threads carry panels away, not bulk stores
 * @param transposed whether the fragments' rows are the result's columns
 */
public record StagedStore(
    Buffer panels,
    long height,
    long width,
    int slots,
    FragmentLayout layout,
    int rowTiles,
    boolean byThreads,
    boolean transposed) {
  private static final int ROWS = WarpgroupInstruction.ROWS;

  /** Accesses of a thread that are under way at once. */
  private static final int AT_ONCE = 8;

  private static final int MATRIX = 16;

  /**
   * A staged store of tiles of this buffer's shape.
   *
   * @param staging the tile program's shared buffer for the result's tile
   * @param layout of the fragments that it is computed from
   * @param byThreads whether threads carry panels away
   */
  public static StagedStore of(
      Buffer staging, FragmentLayout layout, int consumers, boolean byThreads) {
    int bytes = staging.dtype().bytes();
    long columns = staging.extent(1);
    long width = OperandRing.panelWidth(columns, bytes);
    if (width == 0) {
      width = 16 / bytes;
    }
    if (columns % width != 0) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "rows of %d bytes of %s are no multiple of 16",
              columns * bytes,
              staging.name()));
    }
    int rowTiles = (int) (layout.rows() / ROWS / consumers);
    int slots = columns / width * rowTiles == 1 ? 1 : 2;
    Buffer panels = panels(staging, (long) slots * consumers, ROWS, width);
    return new StagedStore(panels, ROWS, width, slots, layout, rowTiles, byThreads, false);
  }

  /**
   * A staged store of tiles of this buffer's shape, whose columns are the fragments' rows.
   *
   * @param staging the tile program's shared buffer for the result's tile, of 16-bit elements
   * @param layout of the fragments that it is computed from
   */
  public static StagedStore transposed(Buffer staging, FragmentLayout layout, int consumers) {
    if (staging.dtype().bytes() != 2 || layout.cols() % 8 != 0 || RowPairs.are(layout)) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "tiles of %d rows of %s are not transposed by stmatrix",
              layout.cols(),
              staging.name()));
    }
    long height = height(layout.cols());
    int rowTiles = (int) (layout.rows() / ROWS / consumers);
    int slots = layout.cols() / height * rowTiles == 1 ? 1 : 2;
    Buffer panels = panels(staging, (long) slots * consumers, height, ROWS);
    return new StagedStore(panels, height, ROWS, slots, layout, rowTiles, false, true);
  }

  /**
   * Rows of a panel whose elements are transposed: the most that divide the tile's.
   *
   * @param rows of the tile, a multiple of 8
   */
  public static long height(long rows) {
    long height = Math.min(ROWS, rows);
    while (rows % height != 0) {
      height -= 8;
    }
    return height;
  }

  private static Buffer panels(Buffer staging, long count, long height, long width) {
    int bytes = staging.dtype().bytes();
    Layout plain = Layout.rowMajor(count, height, width);
    return new Buffer(
        staging.name(),
        staging.dtype(),
        List.of(Exprs.i32(count), Exprs.i32(height), Exprs.i32(width)),
        Scope.SHARED,
        new Layout(plain.dimensions(), OperandRing.swizzle(width, bytes)),
        Math.max(128, OperandRing.alignment(width, bytes)));
  }

  /** The same with panels for so many warpgroups, to each of which a tile of its own belongs. */
  public StagedStore forGroups(int groups) {
    Buffer all = panels(panels, (long) slots * groups, height, width);
    return new StagedStore(all, height, width, slots, layout, rowTiles, byThreads, transposed);
  }

  /** The value of an element of the tile. */
  public interface Values {
    /**
     * The value.
     *
     * @param row of the fragments
     * @param column of the fragments
     * @param register of the fragments that holds the element
     */
    Expr at(Expr row, Expr column, Expr register);
  }

  /**
   * The same of a warpgroup to which a part of the tile belongs.
   *
   * @param consumer the thread among those that hold the tile's fragments
   * @param part the warpgroup among those
   * @param group the warpgroup among those with panels
   */
  public Stmt store(Region to, Values values, Expr consumer, Expr part, Expr group, Expr thread) {
    long columnPanels = layout.cols() / (transposed ? height : width);
    long count = columnPanels * rowTiles;
    Var row0 = Var.index("row");
    Var column0 = Var.index("col");
    Stmt body =
        Stmts.loop(
            ForKind.UNROLLED,
            "c",
            count,
            c -> {
              Expr x = Exprs.div(c, columnPanels);
              Expr panel = Exprs.mod(c, columnPanels);
              Expr slot = Exprs.add(Exprs.mul(group, slots), Exprs.mod(c, slots));
              Expr along = Exprs.mul(Exprs.add(Exprs.mul(part, rowTiles), x), ROWS);
              Expr across = Exprs.mul(panel, transposed ? height : width);
              Expr row = transposed ? across : along;
              Expr column = transposed ? along : across;
              Stmt filled = fill(values, row0, column0, x, panel, slot, thread);
              if (byThreads) {
                return Stmts.seq(
                    barrier(group), filled, barrier(group), rows(to, row, column, slot, thread));
              }
              return Stmts.seq(
                  new Stmt.If(Exprs.eq(thread, Exprs.i32(0)), freeSlot(c, count), null),
                  barrier(group),
                  filled,
                  Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC),
                  barrier(group),
                  new Stmt.If(
                      Exprs.eq(thread, Exprs.i32(0)), bulkStore(to, row, column, slot), null));
            });
    return new Stmt.Let(
        row0,
        layout.rowOfThread(consumer),
        new Stmt.Let(column0, layout.colOfThread(consumer), body));
  }

  /** One thread's store of a panel to this place of the result's tile. */
  private Stmt bulkStore(Region to, Expr row, Expr column, Expr slot) {
    List<Expr> place = Guards.indices(to, List.of(row, column));
    return Stmts.seq(
        Exprs.evaluate(
            place.size() == 3 ? HopperIntrinsics.BULK_STORE_3D : HopperIntrinsics.BULK_STORE,
            new Expr.AddressOf(to.buffer(), place),
            new Expr.AddressOf(panels, List.of(slot, Exprs.i32(0), Exprs.i32(0))),
            Exprs.i32(height),
            Exprs.i32(width)),
        Exprs.evaluate(HopperIntrinsics.BULK_COMMIT));
  }

  /** All threads' stores of it, of as many elements each as rows of the result are multiples of. */
  private Stmt rows(Region to, Expr row, Expr column, Expr slot, Expr thread) {
    int lanes = lanes(to.buffer().extent(to.buffer().rank() - 1), panels.dtype().bytes());
    long perRow = width / lanes;
    long accesses = ROWS * perRow / WarpgroupInstruction.THREADS;
    long atOnce = Math.min(AT_ONCE, accesses);
    return Stmts.loop(
        ForKind.SERIAL,
        "g",
        accesses / atOnce,
        g ->
            Stmts.loop(
                ForKind.UNROLLED,
                "r",
                atOnce,
                r -> {
                  Expr access =
                      Exprs.add(
                          Exprs.mul(
                              Exprs.add(Exprs.mul(g, atOnce), r), WarpgroupInstruction.THREADS),
                          thread);
                  Expr panelRow = Exprs.div(access, perRow);
                  Expr panelColumn = Exprs.mul(Exprs.mod(access, perRow), lanes);
                  List<Expr> place =
                      Guards.indices(
                          to, List.of(Exprs.add(row, panelRow), Exprs.add(column, panelColumn)));
                  return new Stmt.If(
                      Guards.inside(to, place),
                      ThreadCode.move(
                          to.buffer(), place, panels, List.of(slot, panelRow, panelColumn), lanes),
                      null);
                }));
  }

  /**
   * Elements of an access of a thread that stores rows: the most that a row is a multiple of.
   *
   * @param columns of the result
   * @param bytes of an element
   */
  public static int lanes(long columns, int bytes) {
    return Math.toIntExact(Long.lowestOneBit(columns | Math.max(1, 16 / bytes)));
  }

  /** Waits until the store that last read this slot has done so. */
  private Stmt freeSlot(Expr c, long count) {
    Stmt all = Exprs.evaluate(HopperIntrinsics.BULK_WAIT_READ, Exprs.i32(0));
    if (slots == 1) {
      return all;
    }
    Stmt butOne = Exprs.evaluate(HopperIntrinsics.BULK_WAIT_READ, Exprs.i32(1));
    // With an odd number of panels the first one follows one in the same slot.
    return count % 2 == 0 ? butOne : new Stmt.If(Exprs.eq(c, Exprs.i32(0)), all, butOne);
  }

  /** A barrier of one consumer warpgroup. */
  public static Stmt barrier(Expr group) {
    return Exprs.evaluate(
        HopperIntrinsics.BAR_SYNC,
        Exprs.add(group, Exprs.i32(1)),
        Exprs.i32(WarpgroupInstruction.THREADS));
  }

  /** The last bulk store has left shared memory and is visible; one thread of a warpgroup waits. */
  public static Stmt finish(Expr thread) {
    return new Stmt.If(
        Exprs.eq(thread, Exprs.i32(0)),
        Exprs.evaluate(HopperIntrinsics.BULK_WAIT, Exprs.i32(0)),
        null);
  }

  private Stmt fill(
      Values values, Var row0, Var column0, Expr x, Expr panel, Expr slot, Expr thread) {
    Expr tileRow = Exprs.add(row0, Exprs.mul(x, ROWS));
    long across = transposed ? height : width;
    Expr tileColumn = Exprs.add(column0, Exprs.mul(panel, across));
    long perRow = layout.cols() / 2;
    Expr register = Exprs.add(Exprs.mul(x, perRow), Exprs.mul(panel, across / 2));
    return transposed || is16Bit() && width % MATRIX == 0 && !RowPairs.are(layout)
        ? matrices(values, tileRow, tileColumn, register, slot, thread)
        : pairs(values, tileRow, tileColumn, register, slot, thread);
  }

  private boolean is16Bit() {
    return panels.dtype() == DType.BF16 || panels.dtype() == DType.F16;
  }

  /**
   * Matrices of 16 × 16 elements, by stmatrix, which transposes them where it has to; the last one
   * may be half as wide then.
   */
  private Stmt matrices(
      Values values, Expr row, Expr column, Expr register, Expr slot, Expr thread) {
    long across = transposed ? height : width;
    Stmt whole =
        Stmts.loop(
            ForKind.UNROLLED,
            "s",
            across / MATRIX,
            s -> matrix(values, row, column, register, slot, thread, s, 4));
    return across % MATRIX == 0
        ? whole
        : Stmts.seq(
            whole,
            matrix(values, row, column, register, slot, thread, Exprs.i32(across / MATRIX), 2));
  }

  /** A matrix as so many of 8 × 8 elements. */
  private Stmt matrix(
      Values values,
      Expr row,
      Expr column,
      Expr register,
      Expr slot,
      Expr thread,
      Expr s,
      int count) {
    TargetIntrinsic pack =
        panels.dtype() == DType.BF16 ? Intrinsics.PACK_BF16X2 : Intrinsics.PACK_F16X2;
    // Of two matrices half the lanes say where rows go.
    Expr lane = Exprs.mod(thread, 8 * count);
    Expr warpRow = Exprs.mul(Exprs.div(thread, 32), MATRIX);
    Buffer packed = Buffer.of("packed", DType.U32, Scope.LOCAL, count);
    Stmt packing =
        Stmts.loop(
            ForKind.UNROLLED,
            "r",
            count,
            r -> {
              Expr first = Exprs.add(Exprs.add(register, Exprs.mul(s, 8)), Exprs.mul(r, 2));
              Expr atRow = Exprs.add(row, Exprs.mul(Exprs.mod(r, 2), 8));
              Expr atColumn =
                  Exprs.add(Exprs.add(column, Exprs.mul(s, MATRIX)), Exprs.mul(Exprs.div(r, 2), 8));
              return new Stmt.Store(
                  packed,
                  List.of(r),
                  new Expr.Call(
                      pack,
                      List.of(
                          f32(values.at(atRow, atColumn, first)),
                          f32(values.at(atRow, Exprs.add(atColumn, 1), Exprs.add(first, 1)))),
                      Type.U32));
            });
    // A lane says where a row of 8 elements goes: of matrices below each other first.
    Expr right = Exprs.add(Exprs.mul(s, MATRIX), Exprs.mul(Exprs.div(lane, MATRIX), 8));
    Expr below = Exprs.mul(Exprs.mod(Exprs.div(lane, 8), 2), 8);
    List<Expr> place =
        transposed
            ? List.of(slot, Exprs.add(right, Exprs.mod(lane, 8)), Exprs.add(warpRow, below))
            : List.of(slot, Exprs.add(warpRow, Exprs.mod(lane, MATRIX)), right);
    TargetIntrinsic store =
        !transposed
            ? Intrinsics.STMATRIX_X4
            : count == 4 ? Intrinsics.STMATRIX_X4_TRANS : Intrinsics.STMATRIX_X2_TRANS;
    Stmt storing =
        Exprs.evaluate(
            store,
            new Expr.AddressOf(panels, place),
            new Expr.AddressOf(packed, List.of(Exprs.i32(0))));
    return new Stmt.Alloc(packed, Stmts.seq(packing, storing));
  }

  /** Rounding is what packing does. */
  private static Expr f32(Expr value) {
    return value instanceof Expr.Cast(Type type, Expr a)
            && a.type().equals(Type.F32)
            && (type.dtype() == DType.BF16 || type.dtype() == DType.F16)
        ? a
        : Exprs.cast(DType.F32, value);
  }

  /** Neighbouring elements by one access of each thread. */
  private Stmt pairs(Values values, Expr row, Expr column, Expr register, Expr slot, Expr thread) {
    Expr lane = Exprs.mod(thread, 32);
    boolean paired = RowPairs.are(layout);
    Expr panelRow =
        paired
            ? Exprs.mod(layout.rowOfThread(thread), ROWS)
            : Exprs.add(Exprs.mul(Exprs.div(thread, 32), MATRIX), Exprs.div(lane, 4));
    return Stmts.loop(
        ForKind.UNROLLED,
        "s",
        width / 8 * 2,
        s -> {
          Expr first = Exprs.add(register, Exprs.mul(s, 2));
          Expr down = Exprs.mul(Exprs.mod(s, 2), paired ? 1 : 8);
          Expr right = Exprs.mul(Exprs.div(s, 2), 8);
          return ThreadCode.withTemporary(
              "packed",
              panels.dtype(),
              2,
              packed ->
                  Stmts.seq(
                      ThreadCode.each(
                          packed,
                          (v, type) ->
                              values.at(
                                  Exprs.add(row, down),
                                  Exprs.add(Exprs.add(column, right), v),
                                  Exprs.add(first, v))),
                      ThreadCode.move(
                          panels,
                          List.of(
                              slot,
                              Exprs.add(panelRow, down),
                              Exprs.add(right, Exprs.mul(Exprs.mod(lane, 4), 2))),
                          packed,
                          List.of(Exprs.i32(0)),
                          2)));
        });
  }
}
