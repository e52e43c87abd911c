package dev.warpwright.perf.order;

import java.util.Arrays;

/**
 * Gives rows and columns of a grid new numbers, so that states which differ only by their numbering
 * mostly become the same one. Which ones meet is a matter of speed, not of truth.
 *
 * <p>Rows are sorted by class, then by a colour that tells how visited tiles and the classes of
 * their columns lie, refined twice; what is still tied is sorted by its pattern of visited tiles.
 * Columns likewise.
 */
final class Relabelling {
  private final int rows;
  private final int columns;

  /** In: visited tiles by row, bit n for column n, and classes, which are 0 to 255. */
  final int[] visited;

  final int[] rowClass;
  final int[] columnClass;

  /** Out: the old number of each new row and column. */
  final int[] rowOf;

  final int[] columnOf;

  private final int[] rowColour;
  private final int[] columnColour;
  private final int[] nextRow;
  private final int[] nextColumn;
  private final int[] pattern;

  Relabelling(int rows, int columns) {
    this.rows = rows;
    this.columns = columns;
    visited = new int[rows];
    rowClass = new int[rows];
    columnClass = new int[columns];
    rowOf = new int[rows];
    columnOf = new int[columns];
    rowColour = new int[rows];
    columnColour = new int[columns];
    nextRow = new int[rows];
    nextColumn = new int[columns];
    pattern = new int[Math.max(rows, columns)];
  }

  /** Chooses numbers; visited tiles under them, row after row from the lowest bit. */
  long run() {
    for (int m = 0; m < rows; m++) {
      rowColour[m] = mix(rowClass[m] + 1);
      rowOf[m] = m;
    }
    for (int n = 0; n < columns; n++) {
      columnColour[n] = mix(columnClass[n] + 1001);
      columnOf[n] = n;
    }
    refine();
    refine();
    // The class stands above the colour.
    for (int m = 0; m < rows; m++) {
      rowColour[m] = rowClass[m] << 23 | rowColour[m] >>> 9;
    }
    for (int n = 0; n < columns; n++) {
      columnColour[n] = columnClass[n] << 23 | columnColour[n] >>> 9;
    }
    Arrays.fill(pattern, 0);
    sort(columnOf, columnColour, columns);
    rowPatterns();
    sort(rowOf, rowColour, rows);
    columnPatterns();
    sort(columnOf, columnColour, columns);
    rowPatterns();
    sort(rowOf, rowColour, rows);
    long bits = 0;
    for (int m = rows - 1; m >= 0; m--) {
      int row = visited[rowOf[m]];
      long line = 0;
      for (int n = columns - 1; n >= 0; n--) {
        line = line << 1 | row >> columnOf[n] & 1;
      }
      bits = bits << columns | line;
    }
    return bits;
  }

  private void refine() {
    System.arraycopy(rowColour, 0, nextRow, 0, rows);
    System.arraycopy(columnColour, 0, nextColumn, 0, columns);
    for (int m = 0; m < rows; m++) {
      int colour = nextRow[m];
      for (int rest = visited[m]; rest != 0; rest &= rest - 1) {
        int n = Integer.numberOfTrailingZeros(rest);
        rowColour[m] += nextColumn[n] * 0x2C1B3C6D;
        columnColour[n] += colour * 0x297A2D39;
      }
    }
    for (int m = 0; m < rows; m++) {
      rowColour[m] = mix(rowColour[m]);
    }
    for (int n = 0; n < columns; n++) {
      columnColour[n] = mix(columnColour[n]);
    }
  }

  private void rowPatterns() {
    for (int m = 0; m < rows; m++) {
      int line = 0;
      for (int n = 0; n < columns; n++) {
        line = line << 1 | visited[m] >> columnOf[n] & 1;
      }
      pattern[m] = line;
    }
  }

  private void columnPatterns() {
    for (int n = 0; n < columns; n++) {
      int line = 0;
      for (int m = 0; m < rows; m++) {
        line = line << 1 | visited[rowOf[m]] >> n & 1;
      }
      pattern[n] = line;
    }
  }

  /** Sorts numbers by their colour, then by their pattern. */
  private void sort(int[] numbers, int[] colour, int count) {
    for (int i = 1; i < count; i++) {
      int number = numbers[i];
      int j = i - 1;
      while (j >= 0
          && (colour[numbers[j]] > colour[number]
              || colour[numbers[j]] == colour[number] && pattern[numbers[j]] > pattern[number])) {
        numbers[j + 1] = numbers[j];
        j--;
      }
      numbers[j + 1] = number;
    }
  }

  private static int mix(int value) {
    int h = value * 0x9E3779B9;
    h ^= h >>> 15;
    h *= 0x85EBCA6B;
    return h ^ h >>> 13;
  }
}
