package dev.warpwright.ir.order;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongBiFunction;
import java.util.stream.Collectors;

/**
 * In which order the tiles of a grid are computed: a map from a running work index to a tile. It is
 * data: what prints, simulates, counts or runs a kernel reads the same order.
 *
 * <p>The text form is a word and, for some, a colon and parameters: {@code grouped:8}.
 */
public sealed interface BlockOrder {
  /**
   * A tile: its row and its column in the grid of tiles.
   *
   * @param m row
   * @param n column
   */
  record Tile(int m, int n) {}

  /** Row after row, columns ascending. */
  record Row() implements BlockOrder {}

  /** Column after column, rows ascending. */
  record Column() implements BlockOrder {}

  /** Row after row, columns ascending and descending in turn. */
  record Serpentine() implements BlockOrder {}

  /**
   * Bands of {@code rows} rows (the last may be lower), each column by column: what runs at the
   * same time then shares both rows and columns.
   *
   * @param rows of tiles, at least 1
   */
  record Grouped(int rows) implements BlockOrder {
    /** Checks the rows. */
    public Grouped {
      if (rows < 1) {
        throw new IllegalArgumentException("a group of " + rows + " rows of tiles");
      }
    }
  }

  /** By the bits of row and column, interleaved. */
  record Morton() implements BlockOrder {}

  /** Along the Hilbert curve of the smallest enclosing square of a power of two. */
  record Hilbert() implements BlockOrder {}

  /**
   * Squares of {@code side} tiles, row after row of them, and row after row in each.
   *
   * @param side tiles, at least 1
   */
  record Nested(int side) implements BlockOrder {
    /** Checks the side. */
    public Nested {
      if (side < 1) {
        throw new IllegalArgumentException("squares of " + side + " tiles");
      }
    }
  }

  /**
   * As listed.
   *
   * @param tiles each of the grid exactly once
   */
  record Explicit(List<Tile> tiles) implements BlockOrder {
    /** Copies the list. */
    public Explicit {
      tiles = List.copyOf(tiles);
    }
  }

  /**
   * {@return the tiles of a grid, each exactly once}
   *
   * @param rows of tiles, at least 1
   * @param columns of tiles, at least 1
   * @throws UserError if an explicit list does not name each tile of this grid exactly once
   */
  default List<Tile> tiles(int rows, int columns) {
    if (rows < 1 || columns < 1) {
      throw new IllegalArgumentException("a grid of " + rows + " x " + columns + " tiles");
    }
    return switch (this) {
      case Row() -> grouped(rows, columns, 1);
      case Column() -> grouped(rows, columns, rows);
      case Serpentine() -> serpentine(rows, columns);
      case Grouped(int band) -> grouped(rows, columns, band);
      case Morton() -> sorted(rows, columns, BlockOrder::mortonKey);
      case Hilbert() -> {
        int levels = 32 - Integer.numberOfLeadingZeros(Math.max(rows, columns) - 1);
        yield sorted(rows, columns, (m, n) -> hilbertKey(m, n, levels));
      }
      case Nested(int side) ->
          sorted(rows, columns, (m, n) -> (long) (m / side) * columns + n / side);
      case Explicit(List<Tile> tiles) -> complete(tiles, rows, columns);
    };
  }

  /** {@return the word that {@link #parse} reads} */
  default String text() {
    return switch (this) {
      case Row() -> "row";
      case Column() -> "column";
      case Serpentine() -> "serpentine";
      case Grouped(int rows) -> "grouped:" + rows;
      case Morton() -> "morton";
      case Hilbert() -> "hilbert";
      case Nested(int side) -> "nested:" + side;
      case Explicit(List<Tile> tiles) ->
          tiles.stream()
              .map(tile -> tile.m() + "," + tile.n())
              .collect(Collectors.joining(";", "explicit:", ""));
    };
  }

  /**
   * {@return {@link #text} for a table or a line of progress: a longer list of tiles by its
   * beginning}
   */
  default String label() {
    return this instanceof Explicit(List<Tile> tiles) && tiles.size() > 4
        ? String.format(
            Locale.ROOT,
            "explicit:%d,%d;... (%d)",
            tiles.getFirst().m(),
            tiles.getFirst().n(),
            tiles.size())
        : text();
  }

  /**
   * Reads several, with commas between them; those of an explicit order have digits behind them.
   *
   * @param text one or more text forms
   * @return the orders as given
   * @throws UserError if one is none
   */
  static List<BlockOrder> parseAll(String text) {
    return Arrays.stream(text.split(",(?!\\d)", -1)).map(BlockOrder::parse).toList();
  }

  /**
   * Reads the text form.
   *
   * @param text as {@link #text()} gives it
   * @return the order
   * @throws UserError if it is none
   */
  static BlockOrder parse(String text) {
    if (text.matches("grouped:[1-9]\\d{0,8}")) {
      return new Grouped(Integer.parseInt(text.substring("grouped:".length())));
    }
    if (text.matches("nested:[1-9]\\d{0,8}")) {
      return new Nested(Integer.parseInt(text.substring("nested:".length())));
    }
    if (text.startsWith("explicit:")) {
      // Pair by pair: a pattern for all of them would recurse as deep as there are pairs.
      String[] pairs = text.substring("explicit:".length()).split(";", -1);
      if (Arrays.stream(pairs).allMatch(pair -> pair.matches("\\d{1,9},\\d{1,9}"))) {
        return new Explicit(
            Arrays.stream(pairs)
                .map(pair -> pair.split(","))
                .map(pair -> new Tile(Integer.parseInt(pair[0]), Integer.parseInt(pair[1])))
                .toList());
      }
    }
    return switch (text) {
      case "row" -> new Row();
      case "column" -> new Column();
      case "serpentine" -> new Serpentine();
      case "morton" -> new Morton();
      case "hilbert" -> new Hilbert();
      default ->
          throw new UserError(
              "order '"
                  + text
                  + "' is none of row, column, serpentine, grouped:ROWS, morton, hilbert,"
                  + " nested:SIDE and explicit:M,N;M,N...");
    };
  }

  private static List<Tile> grouped(int rows, int columns, int band) {
    List<Tile> tiles = new ArrayList<>();
    for (int top = 0; top < rows; top += Math.min(band, rows - top)) {
      int bottom = Math.min(rows, top + Math.min(band, rows - top));
      for (int n = 0; n < columns; n++) {
        for (int m = top; m < bottom; m++) {
          tiles.add(new Tile(m, n));
        }
      }
    }
    return tiles;
  }

  private static List<Tile> serpentine(int rows, int columns) {
    List<Tile> tiles = new ArrayList<>();
    for (int m = 0; m < rows; m++) {
      for (int n = 0; n < columns; n++) {
        tiles.add(new Tile(m, m % 2 == 0 ? n : columns - 1 - n));
      }
    }
    return tiles;
  }

  private static List<Tile> sorted(int rows, int columns, ToLongBiFunction<Integer, Integer> key) {
    return grouped(rows, columns, 1).stream()
        .sorted(Comparator.comparingLong(tile -> key.applyAsLong(tile.m(), tile.n())))
        .toList();
  }

  private static long mortonKey(int m, int n) {
    return spread(n) | spread(m) << 1;
  }

  /** Bit i of the argument becomes bit 2i. */
  private static long spread(int value) {
    long spread = 0;
    for (int bit = 0; bit < 31; bit++) {
      spread |= (long) (value >> bit & 1) << 2 * bit;
    }
    return spread;
  }

  /**
   * Distance along the curve. Each level chooses a quadrant; the two outer quadrants run along the
   * diagonal's mirror image, so coordinates are transposed on the way down, and the last one also
   * reversed.
   */
  private static long hilbertKey(int m, int n, int levels) {
    long key = 0;
    int row = m;
    int column = n;
    for (int level = levels - 1; level >= 0; level--) {
      int right = column >> level & 1;
      int down = row >> level & 1;
      key = key << 2 | (3 * right ^ down);
      if (down == 0) {
        int mask = (1 << level) - 1;
        int newRow = right == 1 ? mask - (column & mask) : column & mask;
        column = right == 1 ? mask - (row & mask) : row & mask;
        row = newRow;
      }
    }
    return key;
  }

  private static List<Tile> complete(List<Tile> tiles, int rows, int columns) {
    boolean[] seen = new boolean[Math.multiplyExact(rows, columns)];
    for (Tile tile : tiles) {
      if (tile.m() < 0 || tile.m() >= rows || tile.n() < 0 || tile.n() >= columns) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "explicit order: tile (%d, %d) is outside the grid of %d x %d tiles",
                tile.m(),
                tile.n(),
                rows,
                columns));
      }
      if (seen[tile.m() * columns + tile.n()]) {
        throw new UserError(
            String.format(
                Locale.ROOT, "explicit order: tile (%d, %d) comes twice", tile.m(), tile.n()));
      }
      seen[tile.m() * columns + tile.n()] = true;
    }
    if (tiles.size() != seen.length) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "explicit order: %d tiles for a grid of %d x %d",
              tiles.size(),
              rows,
              columns));
    }
    return tiles;
  }
}
