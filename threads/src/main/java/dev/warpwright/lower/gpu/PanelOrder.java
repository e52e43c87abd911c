package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import java.util.ArrayList;
import java.util.List;

/**
 * A matrix [N, K] in global memory in the order in which tiles of so many rows lie in shared memory
 * ({@link OperandRing}): panel by panel of a tile's rows, already swizzled, then the next rows. So
 * whole panels next to each other are contiguous, and one linear copy brings them.
 */
public final class PanelOrder {
  /** Rows after which a swizzle repeats. */
  public static final int GROUP = 8;

  private PanelOrder() {}

  /** Whether a matrix consists of tiles of so many rows and of panels of so many columns. */
  public static boolean fits(Buffer matrix, long rows, long width) {
    return matrix.rank() == 2
        && matrix.hasConstantShape()
        && rows % GROUP == 0
        && matrix.extent(0) % rows == 0
        && matrix.extent(1) % width == 0;
  }

  /**
   * A matrix in this order.
   *
   * @param rows of a tile
   * @param width columns of a panel
   */
  public static Buffer of(Buffer plain, long rows, long width) {
    List<Mode> row = new ArrayList<>(List.of(new Mode(rows, width)));
    if (plain.extent(0) > rows) {
      row.add(new Mode(plain.extent(0) / rows, rows * plain.extent(1)));
    }
    List<Mode> column = new ArrayList<>(List.of(new Mode(width, 1)));
    if (plain.extent(1) > width) {
      column.add(new Mode(plain.extent(1) / width, rows * width));
    }
    Layout layout =
        new Layout(List.of(row, column), OperandRing.swizzle(width, plain.dtype().bytes()));
    return plain.withLayout(layout);
  }

  /**
   * Whether a copy brings whole panels of a matrix in this order to where its tile has them.
   *
   * @param width columns of the tile's panels
   */
  public static boolean isCopied(Stmt.TileCopy copy, long width) {
    Buffer from = copy.from().buffer();
    List<Range> to = copy.to().tile();
    if (from.scope() != Scope.GLOBAL
        || from.layout() == null
        || to.size() != 2
        || from.dtype() != copy.to().buffer().dtype()
        || !Exprs.isConst(to.get(0).min(), 0)
        || !Exprs.isConst(to.get(1).min(), 0)) {
      return false;
    }
    long rows = Guards.extent(to.get(0));
    List<Range> source = copy.from().ranges();
    return fits(from, rows, width)
        && from.layout().equals(of(from, rows, width).layout())
        && Guards.extent(to.get(1)) % width == 0
        && CopyLowering.multipleOf(source.get(0).min(), Math.toIntExact(rows))
        && CopyLowering.multipleOf(source.get(1).min(), Math.toIntExact(width));
  }
}
