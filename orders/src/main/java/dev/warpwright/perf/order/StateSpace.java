package dev.warpwright.perf.order;

import java.util.ArrayList;
import java.util.List;

/** States of one matmul with one block along K: tiles as bits, rows and columns numbered anew. */
abstract class StateSpace extends SearchSpace {
  final int rows;
  final int columns;
  final int capacity;
  final Relabelling relabelling;
  private final long allVisited;

  private final int rowBest;
  private final int columnBest;
  private final int[] columnLeft;

  StateSpace(int rows, int columns, int capacity) {
    this.rows = rows;
    this.columns = columns;
    this.capacity = capacity;
    this.relabelling = new Relabelling(rows, columns);
    this.allVisited = (1L << rows * columns) - 1;
    this.rowBest = Math.min(capacity - 1, columns);
    this.columnBest = Math.min(capacity - 1, rows);
    this.columnLeft = new int[columns];
  }

  @Override
  final boolean done(long state) {
    return (state & allVisited) == allVisited;
  }

  @Override
  final int numbers() {
    return rows + columns;
  }

  @Override
  final int[] renumbering() {
    int[] old = new int[rows + columns];
    for (int m = 0; m < rows; m++) {
      old[m] = relabelling.rowOf[m];
    }
    for (int n = 0; n < columns; n++) {
      old[rows + n] = rows + relabelling.columnOf[n];
    }
    return old;
  }

  @Override
  final List<WorkItem> items(long tiles, int[] names) {
    List<WorkItem> items = new ArrayList<>();
    for (long rest = tiles; rest != 0; rest &= rest - 1) {
      int tile = Long.numberOfTrailingZeros(rest);
      items.add(new WorkItem(0, names[tile / columns], names[rows + tile % columns] - rows));
    }
    return items;
  }

  /** Rows whose block is in the cache, as bits. */
  abstract int cachedRows(long state);

  /** Columns whose block is in the cache, as bits. */
  abstract int cachedColumns(long state);

  final int row(long state, int m) {
    return (int) (state >>> m * columns) & (1 << columns) - 1;
  }

  /**
   * {@inheritDoc}
   *
   * <p>A row with tiles left whose block is not cached needs one, a column too; each of these makes
   * at most as many tiles possible as it has left, and any further load at most as many as fit
   * beside it in the cache.
   */
  @Override
  final int bound(long state) {
    int rowsIn = cachedRows(state);
    int columnsIn = cachedColumns(state);
    int all = (1 << columns) - 1;
    int loads = 0;
    int pairs = 0;
    int covered = 0;
    for (int n = 0; n < columns; n++) {
      columnLeft[n] = 0;
    }
    for (int m = 0; m < rows; m++) {
      int left = ~row(state, m) & all;
      boolean in = (rowsIn >> m & 1) != 0;
      int apart = in ? left & ~columnsIn : left;
      pairs += Integer.bitCount(apart);
      if (!in && left != 0) {
        loads++;
        covered += Math.min(rowBest, Integer.bitCount(left));
      }
      for (int rest = left; rest != 0; rest &= rest - 1) {
        columnLeft[Integer.numberOfTrailingZeros(rest)]++;
      }
    }
    for (int n = 0; n < columns; n++) {
      if ((columnsIn >> n & 1) == 0 && columnLeft[n] != 0) {
        loads++;
        covered += Math.min(columnBest, columnLeft[n]);
      }
    }
    return pairs <= covered
        ? loads
        : loads + Math.ceilDiv(pairs - covered, Math.max(rowBest, columnBest));
  }
}
