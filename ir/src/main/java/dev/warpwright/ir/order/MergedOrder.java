package dev.warpwright.ir.order;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Attrs;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * In which order blocks take the tiles of two grids that are one: like {@link BlockOrder}, it is
 * data. A tile of the second grid stands behind those of the first that it may wait for.
 *
 * <p>The text form is {@code rows}, or {@code sequence/grouped:8/row} with the orders of both.
 */
public sealed interface MergedOrder {
  /** Rows of tiles are less, so that the sign of an entry may tell the grids apart. */
  int MAX_ROWS = 1 << 15;

  /** Columns of tiles are less. */
  int MAX_COLUMNS = 1 << 16;

  /** Attribute of a loop and its kernel: the order's text. */
  String ORDER = "order";

  /** Attributes of a kernel: rows and columns of tiles of the first grid, and of the second. */
  String ROWS = "rows";

  String COLUMNS = "columns";
  String SECOND_ROWS = "secondRows";
  String SECOND_COLUMNS = "secondColumns";

  /** All tiles of the first grid, then all of the second. */
  record Sequence(BlockOrder first, BlockOrder second) implements MergedOrder {}

  /** A row of tiles of the first grid, then the same row of the second. */
  record Rows() implements MergedOrder {}

  /**
   * How many tiles there are.
   *
   * @param rows of tiles of the first grid
   * @param columns of tiles of the first grid
   * @param secondRows of tiles of the second grid
   * @param secondColumns of tiles of the second grid
   */
  record Extents(int rows, int columns, int secondRows, int secondColumns) {
    public Extents {
      if (Math.min(Math.min(rows, columns), Math.min(secondRows, secondColumns)) < 1
          || Math.max(rows, secondRows) >= MAX_ROWS
          || Math.max(columns, secondColumns) >= MAX_COLUMNS) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "grids of %d x %d and %d x %d tiles: each has 1 to %d rows and %d columns",
                rows,
                columns,
                secondRows,
                secondColumns,
                MAX_ROWS - 1,
                MAX_COLUMNS - 1));
      }
    }

    /** What a kernel's attributes say. */
    public static Extents of(Attrs attrs) {
      return new Extents(
          Math.toIntExact(attrs.getLong(ROWS, 0)),
          Math.toIntExact(attrs.getLong(COLUMNS, 0)),
          Math.toIntExact(attrs.getLong(SECOND_ROWS, 0)),
          Math.toIntExact(attrs.getLong(SECOND_COLUMNS, 0)));
    }

    /** Attributes that say it. */
    public Attrs in(Attrs attrs) {
      return attrs
          .with(ROWS, rows)
          .with(COLUMNS, columns)
          .with(SECOND_ROWS, secondRows)
          .with(SECOND_COLUMNS, secondColumns);
    }

    /** Tiles of both. */
    public int count() {
      return Math.addExact(
          Math.multiplyExact(rows, columns), Math.multiplyExact(secondRows, secondColumns));
    }
  }

  /** Whether a kernel's attributes describe two grids in one. */
  static boolean isIn(Attrs attrs) {
    return attrs.has(SECOND_COLUMNS);
  }

  /**
   * One number for each tile: {@code m << 16 | n}, and the highest bit set for those of the second
   * grid.
   *
   * @throws UserError if the order does not suit the grids
   */
  default List<Integer> table(Extents e) {
    List<Integer> table = new ArrayList<>(e.count());
    switch (this) {
      case Sequence(BlockOrder first, BlockOrder second) -> {
        first.tiles(e.rows(), e.columns()).forEach(tile -> table.add(entry(tile)));
        second
            .tiles(e.secondRows(), e.secondColumns())
            .forEach(tile -> table.add(Integer.MIN_VALUE | entry(tile)));
      }
      case Rows() -> {
        if (e.rows() != e.secondRows()) {
          throw new UserError(
              String.format(
                  Locale.ROOT,
                  "grids of %d and %d rows of tiles are not taken row by row",
                  e.rows(),
                  e.secondRows()));
        }
        for (int m = 0; m < e.rows(); m++) {
          for (int n = 0; n < e.columns(); n++) {
            table.add(m << 16 | n);
          }
          for (int n = 0; n < e.secondColumns(); n++) {
            table.add(Integer.MIN_VALUE | m << 16 | n);
          }
        }
      }
    }
    return table;
  }

  /**
   * The table of a kernel with these attributes.
   *
   * @throws UserError if they are no order of two grids, or the order does not suit them
   */
  static List<Integer> table(Attrs attrs) {
    return parse(String.valueOf(attrs.getString(ORDER))).table(Extents.of(attrs));
  }

  private static int entry(BlockOrder.Tile tile) {
    return tile.m() << 16 | tile.n();
  }

  /** The text that {@link #parse} reads. */
  default String text() {
    return switch (this) {
      case Sequence(BlockOrder first, BlockOrder second) ->
          "sequence/" + first.text() + "/" + second.text();
      case Rows() -> "rows";
    };
  }

  /**
   * Reads the text form.
   *
   * @throws UserError if it is none
   */
  static MergedOrder parse(String text) {
    String[] parts = text.split("/", -1);
    if (parts.length == 3 && parts[0].equals("sequence")) {
      return new Sequence(BlockOrder.parse(parts[1]), BlockOrder.parse(parts[2]));
    }
    if (text.equals("rows")) {
      return new Rows();
    }
    throw new UserError(
        "\"" + text + "\" is no order of two grids; there are rows and sequence/FIRST/SECOND");
  }
}
