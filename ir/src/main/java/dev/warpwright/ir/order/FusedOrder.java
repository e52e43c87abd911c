package dev.warpwright.ir.order;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Attrs;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * In which order blocks take the tiles of two grids that are one: like {@link BlockOrder}, it is
 * data. A tile of the second grid stands behind those of the first that it may wait for.
 *
 * <p>The text form is {@code rows}, {@code sequence/grouped:8/row} with the orders of both, or
 * {@code explicit:0,0,0;0,1,0;0,0,1} with row, column and grid of each tile.
 */
public sealed interface FusedOrder {
  /** Rows of tiles are less, so that the sign of an entry may tell the grids apart. */
  int MAX_ROWS = 1 << 15;

  /** Columns of tiles are less. */
  int MAX_COLUMNS = 1 << 16;

  /** What the text of an order that lists its tiles begins with. */
  String EXPLICIT = "explicit:";

  /** Attribute of a loop and its kernel: the order's text. */
  String ORDER = "order";

  /** Attributes of a kernel: rows and columns of tiles of the first grid, and of the second. */
  String ROWS = "rows";

  /** Attribute of a kernel: columns of tiles of the first grid. */
  String COLUMNS = "columns";

  /** Attribute of a kernel: rows of tiles of the second grid. */
  String SECOND_ROWS = "secondRows";

  /** Attribute of a kernel: columns of tiles of the second grid. */
  String SECOND_COLUMNS = "secondColumns";

  /**
   * All tiles of the first grid, then all of the second.
   *
   * @param first of the first grid
   * @param second of the second grid
   */
  record Sequence(BlockOrder first, BlockOrder second) implements FusedOrder {}

  /** A row of tiles of the first grid, then the same row of the second. */
  record Rows() implements FusedOrder {}

  /**
   * As listed, by entries of the {@link #table}: both grids may take turns as they like, as long as
   * a tile of the second comes behind all of the first that it waits for, and at least behind all
   * of its row.
   *
   * @param entries as {@link #entry} makes them
   */
  record Explicit(List<Integer> entries) implements FusedOrder {
    /** Copies the list. */
    public Explicit {
      entries = List.copyOf(entries);
    }

    /**
     * {@return the entry of a tile}
     *
     * @param gemm 0 for the first grid, 1 for the second
     * @param row of tiles
     * @param column of tiles
     */
    public static int entry(int gemm, int row, int column) {
      return (gemm == 0 ? 0 : Integer.MIN_VALUE) | row << 16 | column;
    }

    private void check(Extents e, WaitPolicy waits) {
      if (e.rows() != e.secondRows()) {
        throw new UserError("explicit order: both grids need as many rows of tiles");
      }
      Set<Integer> seen = new HashSet<>();
      int[] done = new int[e.rows()];
      for (int entry : entries) {
        int row = entry >>> 16 & MAX_ROWS - 1;
        int column = entry & MAX_COLUMNS - 1;
        boolean first = entry >= 0;
        String what = first ? "first" : "second";
        String tile =
            String.format(
                Locale.ROOT, "explicit order: tile (%d, %d) of the %s grid ", row, column, what);
        if (row >= e.rows() || column >= (first ? e.columns() : e.secondColumns())) {
          throw new UserError(tile + "is outside");
        }
        if (!seen.add(entry)) {
          throw new UserError(tile + "comes twice");
        }
        if (!first && done[row] < e.columns()) {
          throw new UserError(tile + "comes before its row of the first one is done");
        }
        int batch =
            switch (waits.part()) {
              case TILE -> 1;
              case ROWS -> waits.rows();
              case GRID -> e.rows();
            };
        int bottom = Math.min(e.rows(), (row / batch + 1) * batch);
        for (int other = row / batch * batch; !first && other < bottom; other++) {
          if (done[other] < e.columns()) {
            throw new UserError(
                String.format(
                    Locale.ROOT,
                    "%scomes before row %d of the first one is done, for which it waits, too"
                        + " (wait=%s)",
                    tile,
                    other,
                    waits.text()));
          }
        }
        done[row] += first ? 1 : 0;
      }
      if (entries.size() != e.count()) {
        throw new UserError(
            String.format(
                Locale.ROOT, "explicit order: %d of %d tiles", entries.size(), e.count()));
      }
    }
  }

  /**
   * How many tiles there are.
   *
   * @param rows of tiles of the first grid
   * @param columns of tiles of the first grid
   * @param secondRows of tiles of the second grid
   * @param secondColumns of tiles of the second grid
   */
  record Extents(int rows, int columns, int secondRows, int secondColumns) {
    /** Checks that there are tiles and that an entry can name each. */
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

    /**
     * {@return the extents that a kernel's attributes say}
     *
     * @param attrs of which {@link FusedOrder#isIn} is true
     */
    public static Extents of(Attrs attrs) {
      return new Extents(
          Math.toIntExact(attrs.getLong(ROWS, 0)),
          Math.toIntExact(attrs.getLong(COLUMNS, 0)),
          Math.toIntExact(attrs.getLong(SECOND_ROWS, 0)),
          Math.toIntExact(attrs.getLong(SECOND_COLUMNS, 0)));
    }

    /**
     * {@return attributes and these extents among them}
     *
     * @param attrs of a kernel
     */
    public Attrs in(Attrs attrs) {
      return attrs
          .with(ROWS, rows)
          .with(COLUMNS, columns)
          .with(SECOND_ROWS, secondRows)
          .with(SECOND_COLUMNS, secondColumns);
    }

    /** {@return tiles of both} */
    public int count() {
      return Math.addExact(
          Math.multiplyExact(rows, columns), Math.multiplyExact(secondRows, secondColumns));
    }
  }

  /**
   * {@return whether a kernel's attributes describe two grids in one}
   *
   * @param attrs of a kernel
   */
  static boolean isIn(Attrs attrs) {
    return attrs.has(SECOND_COLUMNS);
  }

  /**
   * {@return one number for each tile: {@code m << 16 | n}, and the highest bit set for those of
   * the second grid}
   *
   * @param e of the grids
   * @param waits what tiles of the second grid wait for
   * @throws UserError if the order does not suit the grids, or a tile would wait for one behind it
   */
  default List<Integer> table(Extents e, WaitPolicy waits) {
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
        if (waits.rows() > 1 || waits.part() == WaitPolicy.Part.GRID && e.rows() > 1) {
          throw new UserError(
              "wait=" + waits.text() + " with order=rows: a tile would wait for rows behind it");
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
      case Explicit explicit -> {
        explicit.check(e, waits);
        table.addAll(explicit.entries());
      }
    }
    return table;
  }

  /**
   * {@return the table of a kernel with these attributes}
   *
   * @param attrs of a kernel, of which {@link #isIn} is true
   * @throws UserError if they are no order of two grids, or the order does not suit them
   */
  static List<Integer> table(Attrs attrs) {
    return parse(String.valueOf(attrs.getString(ORDER))).table(Extents.of(attrs), waits(attrs));
  }

  private static WaitPolicy waits(Attrs attrs) {
    String text = attrs.getString(WaitPolicy.WAIT);
    return text == null ? WaitPolicy.ROW : WaitPolicy.parse(text);
  }

  private static int entry(BlockOrder.Tile tile) {
    return tile.m() << 16 | tile.n();
  }

  /** {@return the text that {@link #parse} reads} */
  default String text() {
    return switch (this) {
      case Sequence(BlockOrder first, BlockOrder second) ->
          "sequence/" + first.text() + "/" + second.text();
      case Rows() -> "rows";
      case Explicit(List<Integer> entries) ->
          entries.stream()
              .map(
                  entry ->
                      (entry >>> 16 & MAX_ROWS - 1)
                          + ","
                          + (entry & MAX_COLUMNS - 1)
                          + (entry < 0 ? ",1" : ",0"))
              .collect(Collectors.joining(";", EXPLICIT, ""));
    };
  }

  /**
   * Reads the text form.
   *
   * @param text as {@link #text()} gives it
   * @return the order
   * @throws UserError if it is none
   */
  static FusedOrder parse(String text) {
    String[] parts = text.split("/", -1);
    if (parts.length == 3 && parts[0].equals("sequence")) {
      return new Sequence(BlockOrder.parse(parts[1]), BlockOrder.parse(parts[2]));
    }
    if (text.equals("rows")) {
      return new Rows();
    }
    if (text.startsWith(EXPLICIT)) {
      List<Integer> entries = new ArrayList<>();
      for (String tile : text.substring(EXPLICIT.length()).split(";", -1)) {
        if (!tile.matches("\\d{1,5},\\d{1,5},[01]")) {
          throw new UserError("explicit order: '" + tile + "' is no ROW,COLUMN,GRID, as 0,3,1");
        }
        String[] cells = tile.split(",", -1);
        int row = Integer.parseInt(cells[0]);
        int column = Integer.parseInt(cells[1]);
        if (row >= MAX_ROWS || column >= MAX_COLUMNS) {
          throw new UserError("explicit order: tile " + tile + " is further out than any grid");
        }
        entries.add(Explicit.entry(Integer.parseInt(cells[2]), row, column));
      }
      return new Explicit(entries);
    }
    throw new UserError(
        "\""
            + text
            + "\" is no order of two grids; there are rows, sequence/FIRST/SECOND and"
            + " explicit:ROW,COLUMN,GRID;...");
  }
}
