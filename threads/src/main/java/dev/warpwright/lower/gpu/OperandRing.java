package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * A tile of an operand in shared memory, as often as the pipeline has stages, in the layout that
 * both TMA copies and warpgroup products know: panels of rows of 128, 64 or 32 bytes, swizzled over
 * that width. Columns beyond the first panel's lie in the next panel.
 *
 * <p>A transposed ring holds the rows of such panels as columns of the tile program's: what is
 * MN-major there is K-major here.
 *
 * @param tile the buffer of the tile program, or, of a transposed ring, its transpose
 * @param ring {@code [stages, rows, width]}, or {@code [stages, panels, rows, width]}
 * @param width columns of a panel
 * @param panels panels next to each other
 * @param transposed whether indices are given as column and row
 */
public record OperandRing(Buffer tile, Buffer ring, long width, long panels, boolean transposed) {
  private static final long[] WIDTHS = {128, 64, 32};
  private static final int CHUNK = 16;

  /**
   * The ring for a tile.
   *
   * @throws LoweringException if its rows fit no swizzle
   */
  public static OperandRing of(Buffer tile, long stages) {
    int bytes = tile.dtype().bytes();
    long rows = tile.extent(0);
    long columns = tile.extent(1);
    long width = panelWidth(columns, bytes);
    if (tile.rank() != 2 || width == 0) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "operand %s: rows of %d bytes are no multiple of 32, as wgmma needs them",
              tile.name(),
              columns * bytes));
    }
    return new OperandRing(
        tile, buffer(tile, stages, columns / width, rows, width), width, columns / width, false);
  }

  /**
   * The transposed ring for a tile.
   *
   * @throws LoweringException if its columns fit no swizzle
   */
  public static OperandRing transposed(Buffer tile, long stages) {
    OperandRing ring =
        of(
            Buffer.of(tile.name(), tile.dtype(), Scope.SHARED, tile.extent(1), tile.extent(0)),
            stages);
    return new OperandRing(ring.tile, ring.ring, ring.width, ring.panels, true);
  }

  /**
   * Whether a product reads single elements of a tile: its rows lie across K, and {@code ldmatrix}
   * cannot transpose elements that are not of 16 bits.
   */
  public static boolean isGathered(Stmt.TileMma mma, Buffer tile) {
    boolean across =
        mma.a().buffer() == tile ? mma.transposeA() : mma.b().buffer() == tile && !mma.transposeB();
    return across && tile.dtype().bytes() != 2;
  }

  /**
   * The swizzle for such reads of rows of so many elements. Lanes read elements of four rows, as
   * many apart as a register holds elements, from eight columns: these are in different banks.
   */
  public static Swizzle gathering(long width, int bytes) {
    int log = Long.numberOfTrailingZeros(width);
    // Eight columns of words are 32 bytes, of bytes 8: half of the least that copies move.
    int base = Integer.numberOfTrailingZeros(Math.max(8, CHUNK / bytes));
    int bits = Math.min(2, log - base);
    int apart = Integer.numberOfTrailingZeros(Math.max(1, Float.BYTES / bytes));
    return bits < 1 ? Swizzle.NONE : new Swizzle(bits, base, log + apart - base);
  }

  /** The same tiles, swizzled in another way. */
  public OperandRing withSwizzle(Swizzle other) {
    Layout layout = Objects.requireNonNull(ring.layout());
    return new OperandRing(
        tile, ring.withLayout(new Layout(layout.dimensions(), other)), width, panels, transposed);
  }

  /** Columns of the widest swizzled panel that divides a row; 0 if there is none. */
  public static long panelWidth(long columns, int bytes) {
    for (long width : WIDTHS) {
      if (columns * bytes % width == 0) {
        return width / bytes;
      }
    }
    return 0;
  }

  private static Buffer buffer(Buffer tile, long stages, long panels, long rows, long width) {
    List<List<Mode>> dimensions = new ArrayList<>();
    List<Expr> shape = new ArrayList<>();
    shape.add(Exprs.i32(stages));
    dimensions.add(List.of(new Mode(stages, panels * rows * width)));
    if (panels > 1) {
      shape.add(Exprs.i32(panels));
      dimensions.add(List.of(new Mode(panels, rows * width)));
    }
    shape.add(Exprs.i32(rows));
    dimensions.add(List.of(new Mode(rows, width)));
    shape.add(Exprs.i32(width));
    dimensions.add(List.of(new Mode(width, 1)));
    int bytes = tile.dtype().bytes();
    return new Buffer(
        tile.name(),
        tile.dtype(),
        shape,
        Scope.SHARED,
        new Layout(dimensions, swizzle(width, bytes)),
        alignment(width, bytes));
  }

  /** The swizzle of dense rows of so many elements; none for rows of 16 bytes. */
  public static Swizzle swizzle(long width, int bytes) {
    int bits = Long.numberOfTrailingZeros(width * bytes / CHUNK);
    return bits == 0
        ? Swizzle.NONE
        : new Swizzle(bits, Integer.numberOfTrailingZeros(CHUNK / bytes), 3);
  }

  /** Bytes of 8 rows, after which a swizzle repeats. */
  public static int alignment(long width, int bytes) {
    return Math.toIntExact(8 * width * bytes);
  }

  public long rows() {
    return tile.extent(0);
  }

  /** Indices of an element of a stage, given its row and column in the tile program's tile. */
  public List<Expr> indices(Expr stage, Expr row, Expr column) {
    return transposed ? place(stage, column, row) : place(stage, row, column);
  }

  private List<Expr> place(Expr stage, Expr row, Expr column) {
    if (panels > 1 && column instanceof Expr.Ramp(Expr first, long step, int lanes)) {
      // Neighbours that are accessed at once are in one panel.
      Expr inside = new Expr.Ramp(Exprs.mod(first, width), step, lanes);
      return List.of(stage, Exprs.div(first, width), row, inside);
    }
    return panels == 1
        ? List.of(stage, row, column)
        : List.of(stage, Exprs.div(column, width), row, Exprs.mod(column, width));
  }
}
