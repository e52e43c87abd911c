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
 * <p>Where the K of the second grid is in parts ({@code division} of the loop and the kernel), each
 * part of a tile is an item of its own, which stands behind the columns of the first grid in that
 * part. Its column counts on from part to part: part p of column n is column p · u + n of u.
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

  /** Attribute of a loop and its kernel: the {@link WorkDivision} of the second grid's K. */
  String DIVISION = "division";

  /** Attribute of a kernel: columns of tiles of the second grid. */
  String SECOND_COLUMNS = "secondColumns";

  /**
   * All tiles of the first grid, then all of the second.
   *
   * @param first of the first grid
   * @param second of the second grid
   */
  record Sequence(BlockOrder first, BlockOrder second) implements FusedOrder {}

  /**
   * A row of tiles of the first grid, then the same row of the second; where K is in parts, part by
   * part of the row.
   */
  record Rows() implements FusedOrder {}

  /**
   * As listed, by entries of the {@link #table}: both grids may take turns as they like, as long as
   * a tile of the second comes behind all of the first that it waits for, and at least behind all
   * of its row, or of its part of the row.
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
     * @param column of tiles; of the second grid, counted on from part to part
     */
    public static int entry(int gemm, int row, int column) {
      return (gemm == 0 ? 0 : Integer.MIN_VALUE) | row << 16 | column;
    }

    private void check(Extents e, WaitPolicy waits) {
      if (e.rows() != e.secondRows()) {
        throw new UserError("explicit order: both grids need as many rows of tiles");
      }
      Set<Integer> seen = new HashSet<>();
      int[][] done = new int[e.parts()][e.rows()];
      for (int entry : entries) {
        int row = entry >>> 16 & MAX_ROWS - 1;
        int column = entry & MAX_COLUMNS - 1;
        boolean first = entry >= 0;
        String what = first ? "first" : "second";
        String tile =
            String.format(
                Locale.ROOT, "explicit order: tile (%d, %d) of the %s grid ", row, column, what);
        if (row >= e.rows() || column >= (first ? e.columns() : e.secondColumns() * e.parts())) {
          throw new UserError(tile + "is outside");
        }
        int part = first ? e.partOf(column) : column / e.secondColumns();
        int needed = e.partBegin(part + 1) - e.partBegin(part);
        String ofRow = e.parts() == 1 ? "" : "part " + part + " of ";
        if (!seen.add(entry)) {
          throw new UserError(tile + "comes twice");
        }
        if (!first && done[part][row] < needed) {
          throw new UserError(tile + "comes before " + ofRow + "its row of the first one is done");
        }
        int batch =
            switch (waits.part()) {
              case TILE -> 1;
              case ROWS -> waits.rows();
              case GRID -> e.rows();
            };
        int bottom = Math.min(e.rows(), (row / batch + 1) * batch);
        for (int other = row / batch * batch; !first && other < bottom; other++) {
          if (done[part][other] < needed) {
            throw new UserError(
                String.format(
                    Locale.ROOT,
                    "%scomes before %srow %d of the first one is done, for which it waits, too"
                        + " (wait=%s)",
                    tile,
                    ofRow,
                    other,
                    waits.text()));
          }
        }
        done[part][row] += first ? 1 : 0;
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
   * @param parts of the K of the second grid, which is the columns of the first; 1 if it is whole
   */
  record Extents(int rows, int columns, int secondRows, int secondColumns, int parts) {
    /** Checks that there are tiles and that an entry can name each. */
    public Extents {
      if (parts < 1 || parts > columns) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "%d parts of %d columns of tiles: 1 at least, and a column each",
                parts,
                columns));
      }
      if (Math.min(Math.min(rows, columns), Math.min(secondRows, secondColumns)) < 1
          || Math.max(rows, secondRows) >= MAX_ROWS
          || Math.max(columns, (long) secondColumns * parts) >= MAX_COLUMNS) {
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
     * With the K of the second grid in one part.
     *
     * @param rows of tiles of the first grid
     * @param columns of tiles of the first grid
     * @param secondRows of tiles of the second grid
     * @param secondColumns of tiles of the second grid
     */
    public Extents(int rows, int columns, int secondRows, int secondColumns) {
      this(rows, columns, secondRows, secondColumns, 1);
    }

    /**
     * {@return the first column of the first grid in a part, of parts as even as they go}
     *
     * @param part 0 for the first; of the one behind the last, all columns
     */
    public int partBegin(int part) {
      return (int) ((long) part * columns / parts);
    }

    /** The part that a column of the first grid is in. */
    private int partOf(int column) {
      return (int) (((column + 1L) * parts - 1) / columns);
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
          Math.toIntExact(attrs.getLong(SECOND_COLUMNS, 0)),
          parts(attrs));
    }

    /**
     * {@return into how many parts attributes of a loop or a kernel divide the K of the second
     * grid}
     *
     * @param attrs with {@code division}, or without
     * @throws UserError if they divide otherwise than into parts
     */
    public static int parts(Attrs attrs) {
      String text = attrs.getString(DIVISION);
      return switch (text == null ? new WorkDivision.Whole() : WorkDivision.parse(text)) {
        case WorkDivision.Whole() -> 1;
        case WorkDivision.Parts(int parts) -> parts;
        case WorkDivision.Stream _ ->
            throw new UserError("division=" + text + ": two grids in one are divided into parts");
      };
    }

    /**
     * {@return attributes and these extents among them}
     *
     * @param attrs of a kernel
     */
    public Attrs in(Attrs attrs) {
      Attrs all =
          attrs
              .with(ROWS, rows)
              .with(COLUMNS, columns)
              .with(SECOND_ROWS, secondRows)
              .with(SECOND_COLUMNS, secondColumns);
      return parts == 1 ? all : all.with(DIVISION, new WorkDivision.Parts(parts).text());
    }

    /** {@return items of both: tiles of the first grid, and all parts of those of the second} */
    public int count() {
      return Math.addExact(
          Math.multiplyExact(rows, columns),
          Math.multiplyExact(Math.multiplyExact(secondRows, secondColumns), parts));
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
   * {@return one number for each item: {@code m << 16 | n}, and the highest bit set for those of
   * the second grid, whose columns count on from part to part}
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
        for (int part = 0; part < e.parts(); part++) {
          int offset = part * e.secondColumns();
          second
              .tiles(e.secondRows(), e.secondColumns())
              .forEach(tile -> table.add(Explicit.entry(1, tile.m(), offset + tile.n())));
        }
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
          for (int part = 0; part < e.parts(); part++) {
            for (int n = e.partBegin(part); n < e.partBegin(part + 1); n++) {
              table.add(Explicit.entry(0, m, n));
            }
            for (int n = 0; n < e.secondColumns(); n++) {
              table.add(Explicit.entry(1, m, part * e.secondColumns() + n));
            }
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
