package dev.warpwright.perf.order;

/**
 * States where each load may evict any block: the optimal policy.
 *
 * <p>A tile whose two blocks are both cached is visited at once, which costs nothing and changes
 * nothing in the cache. A row or a column without tiles left gives its room back: nothing will need
 * its block. So a step is one load, and rows and columns that are cached are the first ones.
 */
final class FreeStates extends StateSpace {
  private static final int CACHED = 0;
  private static final int OUTSIDE = 1;
  private static final int FINISHED = 2;

  private final int[] grid;
  private final int[] next;

  FreeStates(int rows, int columns, int capacity) {
    super(rows, columns, capacity);
    this.grid = new int[rows];
    this.next = new int[rows];
  }

  /** Whether states of this grid fit into a {@code long}. */
  static boolean fits(int rows, int columns) {
    return rows * columns + 8 <= 63 && rows <= 15 && columns <= 15;
  }

  private int rowsIn(long state) {
    return (int) (state >>> rows * columns) & 15;
  }

  private int columnsIn(long state) {
    return (int) (state >>> rows * columns + 4) & 15;
  }

  @Override
  int cachedRows(long state) {
    return (1 << rowsIn(state)) - 1;
  }

  @Override
  int cachedColumns(long state) {
    return (1 << columnsIn(state)) - 1;
  }

  @Override
  void expand(long state, Visitor visitor) {
    int all = (1 << columns) - 1;
    int a = rowsIn(state);
    int b = columnsIn(state);
    int columnsDone = all;
    for (int m = 0; m < rows; m++) {
      grid[m] = row(state, m);
      columnsDone &= grid[m];
    }
    boolean full = a + b == capacity;
    for (int m = a; m < rows; m++) {
      if (grid[m] != all && (m == a || grid[m] != grid[m - 1])) {
        evictions(visitor, cachedRows(state) | 1 << m, cachedColumns(state), m, -1, full);
      }
    }
    for (int n = b; n < columns; n++) {
      if ((columnsDone >> n & 1) == 0 && (n == b || !sameColumn(n, n - 1))) {
        evictions(visitor, cachedRows(state), cachedColumns(state) | 1 << n, -1, n, full);
      }
    }
  }

  /** Tries every block that may go when row {@code newRow} or column {@code newColumn} comes. */
  private void evictions(
      Visitor visitor, int rowsIn, int columnsIn, int newRow, int newColumn, boolean full) {
    if (!full) {
      step(visitor, rowsIn, columnsIn, newRow, newColumn);
      return;
    }
    for (int m = 0; m < rows; m++) {
      boolean goes = (rowsIn >> m & 1) != 0 && m != newRow;
      if (goes && (m == 0 || grid[m] != grid[m - 1])) {
        step(visitor, rowsIn & ~(1 << m), columnsIn, newRow, newColumn);
      }
    }
    for (int n = 0; n < columns; n++) {
      boolean goes = (columnsIn >> n & 1) != 0 && n != newColumn;
      if (goes && (n == 0 || !sameColumn(n, n - 1))) {
        step(visitor, rowsIn, columnsIn & ~(1 << n), newRow, newColumn);
      }
    }
  }

  private void step(Visitor visitor, int rowsIn, int columnsIn, int newRow, int newColumn) {
    int all = (1 << columns) - 1;
    long tiles = 0;
    int columnsDone = all;
    for (int m = 0; m < rows; m++) {
      int now = grid[m];
      if (m == newRow) {
        now |= columnsIn;
      } else if (newColumn >= 0 && (rowsIn >> m & 1) != 0) {
        now |= 1 << newColumn;
      }
      tiles |= (long) (now & ~grid[m]) << m * columns;
      next[m] = now;
      columnsDone &= now;
    }
    Relabelling r = relabelling;
    int a = 0;
    for (int m = 0; m < rows; m++) {
      r.visited[m] = next[m];
      boolean in = (rowsIn >> m & 1) != 0;
      r.rowClass[m] = next[m] == all ? FINISHED : in ? CACHED : OUTSIDE;
      a += r.rowClass[m] == CACHED ? 1 : 0;
    }
    int b = 0;
    for (int n = 0; n < columns; n++) {
      boolean in = (columnsIn >> n & 1) != 0;
      r.columnClass[n] = (columnsDone >> n & 1) != 0 ? FINISHED : in ? CACHED : OUTSIDE;
      b += r.columnClass[n] == CACHED ? 1 : 0;
    }
    long bits = r.run();
    stepTiles = tiles;
    visitor.accept(bits | (long) a << rows * columns | (long) b << rows * columns + 4, 1);
  }

  private boolean sameColumn(int first, int second) {
    for (int m = 0; m < rows; m++) {
      if ((grid[m] >> first & 1) != (grid[m] >> second & 1)) {
        return false;
      }
    }
    return true;
  }
}
