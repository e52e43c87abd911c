package dev.warpwright.perf.order;

import dev.warpwright.base.UserError;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A matmul C = A · B in tiles, or with {@code chained > 0} also E = C · D: C has {@code rows} ×
 * {@code columns} tiles, {@code depth} blocks of K; E has {@code rows} × {@code chained} tiles, and
 * {@code columns} blocks along its K. See the package for the model.
 *
 * <p>With {@code parts > 1} the K of the second matmul is split: an item of it is one part of a
 * tile of E, needs the tiles of C in that part alone, and adds to the tile's partial sum. Part p
 * has the columns of C from p · columns / parts up to (p + 1) · columns / parts.
 *
 * @param chained columns of tiles of the second result; 0 for one matmul
 * @param cachedResults whether results go through the cache
 * @param sizes of the blocks, in any unit
 * @param capacity of the cache, in the same unit
 * @param atOnce tiles that are computed at a time, in step along K
 * @param parts of the K of the second matmul; 1 without one
 */
public record TileProblem(
    int rows,
    int columns,
    int depth,
    int chained,
    boolean cachedResults,
    Sizes sizes,
    long capacity,
    int atOnce,
    int parts) {
  /** Blocks that a problem may have, and accesses; more are refused. */
  public static final int MOST = 1 << 24;

  /** Sizes of a block of each operand, in one unit. */
  public record Sizes(long a, long b, long c, long d, long e) {
    /** Every block is one unit. */
    public static final Sizes ONE = new Sizes(1, 1, 1, 1, 1);

    public Sizes {
      if (Math.min(Math.min(Math.min(a, b), Math.min(c, d)), e) < 1) {
        throw new UserError("the size of a block must be at least 1");
      }
    }
  }

  public TileProblem {
    if (rows < 1 || columns < 1 || depth < 1 || chained < 0) {
      throw new UserError(
          "a grid of "
              + rows
              + "x"
              + columns
              + " tiles with "
              + depth
              + " blocks of K: each must be at least 1");
    }
    long accesses = accesses(rows, columns, depth, chained);
    if (Math.max(Math.max(rows, columns), Math.max(depth, chained)) > MOST || accesses > MOST) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "a grid of %dx%d tiles with %d blocks of K is too large: %d accesses, at most %d",
              rows,
              columns,
              depth,
              accesses,
              MOST));
    }
    if (atOnce < 1) {
      throw new UserError(atOnce + " tiles at a time: there must be at least 1");
    }
    if (chained == 0 && parts != 1) {
      throw new UserError(
          parts + " parts are of the second one's K of two chained matmuls; give chained=");
    }
    if (parts < 1 || parts > columns) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%d parts of the second matmul's K, which has %d blocks: there are 1 to %d",
              parts,
              columns,
              columns));
    }
  }

  /** With the K of the second matmul in one part. */
  public TileProblem(
      int rows,
      int columns,
      int depth,
      int chained,
      boolean cachedResults,
      Sizes sizes,
      long capacity,
      int atOnce) {
    this(rows, columns, depth, chained, cachedResults, sizes, capacity, atOnce, 1);
  }

  /** One matmul whose blocks are all one unit and whose result goes past the cache. */
  public static TileProblem of(int rows, int columns, int depth, long capacity) {
    return new TileProblem(rows, columns, depth, 0, false, Sizes.ONE, capacity, 1);
  }

  private static long accesses(int rows, int columns, int depth, int chained) {
    return (long) rows * columns * (depth + (long) chained) * 2;
  }

  /** How often the products read a block, of both operands. */
  public long accesses() {
    return accesses(rows, columns, depth, chained);
  }

  /** The same with one tile at a time. */
  public TileProblem oneAtATime() {
    return new TileProblem(rows, columns, depth, chained, cachedResults, sizes, capacity, 1, parts);
  }

  /**
   * The same with the K of the second matmul in so many parts.
   *
   * @throws UserError if there are fewer blocks along that K
   */
  public TileProblem inParts(int count) {
    return new TileProblem(
        rows, columns, depth, chained, cachedResults, sizes, capacity, atOnce, count);
  }

  /** Tiles of all results. */
  public int tiles() {
    return rows * columns + rows * chained;
  }

  /** Items of a complete order: tiles of the first result, and all parts of those of the second. */
  public int items() {
    return rows * columns + rows * chained * parts;
  }

  /** The first column of the first result in a part; of the part behind the last, all columns. */
  public int partBegin(int part) {
    return (int) ((long) part * columns / parts);
  }

  /** The part that a column of the first result is in. */
  public int partOf(int column) {
    return (int) (((long) (column + 1) * parts - 1) / columns);
  }

  /** Blocks of all matrices; they are numbered from 0: A, B, C, D, E, each row by row. */
  public int blocks() {
    return offset(5);
  }

  /** The number of the first block of a matrix, 0 for A to 4 for E. */
  private int offset(int matrix) {
    int[] counts = {
      rows * depth, depth * columns, rows * columns, columns * chained, rows * chained
    };
    int offset = 0;
    for (int i = 0; i < matrix; i++) {
      offset += counts[i];
    }
    return offset;
  }

  private int width(int matrix) {
    return switch (matrix) {
      case 0 -> depth;
      case 1, 2 -> columns;
      default -> chained;
    };
  }

  /** Which matrix a block belongs to, 0 for A to 4 for E. */
  int matrix(int block) {
    int matrix = 0;
    while (block >= offset(matrix + 1)) {
      matrix++;
    }
    return matrix;
  }

  /** The size of a block. */
  public long size(int block) {
    return switch (matrix(block)) {
      case 0 -> sizes.a;
      case 1 -> sizes.b;
      case 2 -> sizes.c;
      case 3 -> sizes.d;
      default -> sizes.e;
    };
  }

  /** What a block is called, as {@code A(0,2)}: row and column in its matrix. */
  public String name(int block) {
    int matrix = matrix(block);
    int index = block - offset(matrix);
    int width = width(matrix);
    return "ABCDE".charAt(matrix) + "(" + index / width + "," + index % width + ")";
  }

  /** Moments along K of a tile, without the one that writes its result. */
  public int moments(WorkItem item) {
    return item.gemm() == 0 ? depth : partBegin(item.part() + 1) - partBegin(item.part());
  }

  /** The left operand's block of a moment. */
  public int left(WorkItem item, int k) {
    return item.gemm() == 0
        ? item.row() * depth + k
        : offset(2) + item.row() * columns + partBegin(item.part()) + k;
  }

  /** The right operand's block of a moment. */
  public int right(WorkItem item, int k) {
    return item.gemm() == 0
        ? offset(1) + k * columns + item.column()
        : offset(3) + (partBegin(item.part()) + k) * chained + item.column();
  }

  /** The block of the tile's own result. */
  public int result(WorkItem item) {
    return item.gemm() == 0
        ? offset(2) + item.row() * columns + item.column()
        : offset(4) + item.row() * chained + item.column();
  }

  /**
   * Checks that an order has each tile of each result once, and a tile of the second result only
   * after the whole row of the first that it is made of, in an earlier step; where its K is in
   * parts, each part once, after that part of the row, and no two of a tile in one step.
   *
   * @param complete whether no tile may be missing
   * @throws UserError if not
   */
  public void check(List<WorkItem> order, boolean complete) {
    String wrong = problemWith(order, complete);
    if (wrong != null) {
      throw new UserError(wrong);
    }
  }

  /**
   * Says of an order which tile is outside of the grid or comes twice, wherever it stands; null if
   * none.
   */
  public @Nullable String outside(List<WorkItem> order) {
    boolean[] seen = new boolean[items()];
    for (int i = 0; i < order.size(); i++) {
      String wrong = outside(order.get(i), i, seen);
      if (wrong != null) {
        return wrong;
      }
    }
    return null;
  }

  private @Nullable String outside(WorkItem item, int position, boolean[] seen) {
    int width = item.gemm() == 0 ? columns : chained;
    if (item.gemm() < 0
        || item.gemm() > (chained > 0 ? 1 : 0)
        || item.row() < 0
        || item.row() >= rows
        || item.column() < 0
        || item.column() >= width) {
      return String.format(
          Locale.ROOT, "%s is outside the grid of %dx%d tiles", place(item, position), rows, width);
    }
    int count = item.gemm() == 0 ? 1 : parts;
    if (item.part() < 0 || item.part() >= count) {
      return String.format(
          Locale.ROOT,
          "%s has K in %d %s: there is no part %d",
          place(item, position),
          count,
          count == 1 ? "part" : "parts",
          item.part());
    }
    int index =
        item.gemm() * rows * columns + (item.row() * width + item.column()) * count + item.part();
    if (seen[index]) {
      return place(item, position) + " comes a second time";
    }
    seen[index] = true;
    return null;
  }

  /** What {@link #check} would say; null if nothing is wrong. */
  @Nullable String problemWith(List<WorkItem> order, boolean complete) {
    boolean[] seen = new boolean[items()];
    var progress = new Progress(this);
    int stepBegin = 0;
    for (int i = 0; i < order.size(); i++) {
      WorkItem item = order.get(i);
      String wrong = outside(item, i, seen);
      if (wrong != null) {
        return wrong;
      }
      String missing = progress.missing(item);
      if (missing != null) {
        return place(item, i) + " " + missing;
      }
      progress.take(item);
      if (i + 1 - stepBegin == atOnce) {
        progress.end(order.subList(stepBegin, i + 1));
        stepBegin = i + 1;
      }
    }
    return complete && order.size() < items()
        ? "the order has " + order.size() + " of " + items() + " tiles"
        : null;
  }

  private String place(WorkItem item, int position) {
    return String.format(
        Locale.ROOT,
        "%stile (%d, %d) of matmul %d, number %d of the order,",
        parts > 1 && item.gemm() == 1 ? "part " + item.part() + " of " : "",
        item.row(),
        item.column(),
        item.gemm(),
        position);
  }
}
