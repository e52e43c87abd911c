package dev.warpwright.perf.order;

/**
 * States where the cache is a queue: LRU and FIFO. A step visits one tile, whose two blocks are
 * loaded if they are missing, A's before B's, and are not evicted by each other.
 *
 * <p>Rows and columns in the queue are numbered from its old end, so the queue itself is only a
 * word over {A, B, dead}, two bits each; dead is a block that no tile left needs.
 */
final class QueueStates extends StateSpace {
  private static final int ROW = 1;
  private static final int COLUMN = 2;
  private static final int DEAD = 3;

  /** Above the classes of queue positions. */
  private static final int OUTSIDE = 254;

  private static final int FINISHED = 255;

  private final boolean lru;
  private final int[] grid;
  private final int[] queue;
  private final int[] moved;

  QueueStates(int rows, int columns, int capacity, boolean lru) {
    super(rows, columns, capacity);
    this.lru = lru;
    this.grid = new int[rows];
    this.queue = new int[capacity + 1];
    this.moved = new int[capacity + 1];
  }

  /** Whether states of this grid and capacity fit into a {@code long}. */
  static boolean fits(int rows, int columns, int capacity) {
    return rows * columns + 2L * capacity <= 63 && rows <= 15 && columns <= 15;
  }

  @Override
  int cachedRows(long state) {
    return cached(state, ROW);
  }

  @Override
  int cachedColumns(long state) {
    return cached(state, COLUMN);
  }

  private int cached(long state, int kind) {
    int count = 0;
    for (long word = state >>> rows * columns; word != 0; word >>>= 2) {
      count += (word & 3) == kind ? 1 : 0;
    }
    return (1 << count) - 1;
  }

  @Override
  void expand(long state, Visitor visitor) {
    int all = (1 << columns) - 1;
    for (int m = 0; m < rows; m++) {
      grid[m] = row(state, m);
    }
    int length = 0;
    int rowsIn = 0;
    int columnsIn = 0;
    for (long word = state >>> rows * columns; word != 0; word >>>= 2) {
      // Blocks of rows are m, of columns rows + n, dead ones negative.
      queue[length++] =
          switch ((int) word & 3) {
            case ROW -> rowsIn++;
            case COLUMN -> rows + columnsIn++;
            default -> -1;
          };
    }
    for (int m = 0; m < rows; m++) {
      if (grid[m] == all || m > rowsIn && grid[m] == grid[m - 1]) {
        continue;
      }
      for (int rest = ~grid[m] & all; rest != 0; rest &= rest - 1) {
        int n = Integer.numberOfTrailingZeros(rest);
        if (n > columnsIn && sameColumn(n, n - 1)) {
          continue;
        }
        step(visitor, length, m, n);
      }
    }
  }

  private void step(Visitor visitor, int length, int m, int n) {
    System.arraycopy(queue, 0, moved, 0, length);
    int column = rows + n;
    int now = touch(length, m, m, column);
    int then = touch(Math.abs(now), column, m, column);
    int loads = (now < 0 ? 1 : 0) + (then < 0 ? 1 : 0);
    length = Math.abs(then);

    int all = (1 << columns) - 1;
    Relabelling r = relabelling;
    int done = all;
    for (int i = 0; i < rows; i++) {
      r.visited[i] = i == m ? grid[i] | 1 << n : grid[i];
      r.rowClass[i] = r.visited[i] == all ? FINISHED : OUTSIDE;
      done &= r.visited[i];
    }
    for (int i = 0; i < columns; i++) {
      r.columnClass[i] = (done >> i & 1) != 0 ? FINISHED : OUTSIDE;
    }
    long word = 0;
    for (int i = length - 1; i >= 0; i--) {
      int block = moved[i];
      int kind;
      if (block < 0) {
        kind = DEAD;
      } else if (block < rows) {
        kind = r.rowClass[block] == FINISHED ? DEAD : ROW;
        if (kind == ROW) {
          r.rowClass[block] = i;
        }
      } else {
        kind = r.columnClass[block - rows] == FINISHED ? DEAD : COLUMN;
        if (kind == COLUMN) {
          r.columnClass[block - rows] = i;
        }
      }
      word = word << 2 | kind;
    }
    stepTiles = 1L << m * columns + n;
    visitor.accept(r.run() | word << rows * columns, loads);
  }

  /** Uses a block; the new length of the queue, negative if the block was loaded. */
  private int touch(int length, int block, int pinnedRow, int pinnedColumn) {
    for (int i = 0; i < length; i++) {
      if (moved[i] == block) {
        if (lru) {
          System.arraycopy(moved, i + 1, moved, i, length - 1 - i);
          moved[length - 1] = block;
        }
        return length;
      }
    }
    int kept = length;
    if (length == capacity) {
      int victim = 0;
      while (moved[victim] == pinnedRow || moved[victim] == pinnedColumn) {
        victim++;
      }
      System.arraycopy(moved, victim + 1, moved, victim, length - 1 - victim);
      kept--;
    }
    moved[kept] = block;
    return -(kept + 1);
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
