package dev.warpwright.perf.order;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * States of any problem that computes one tile at a time, on small grids: several blocks along K,
 * two chained matmuls, results that go through the cache. A step computes one tile.
 *
 * <p>Rows may exchange their numbers, and columns of the last matmul. Blocks along a K may not: a
 * tile goes through them in order, and columns of the first of two matmuls are such blocks, nor may
 * parts of a K.
 *
 * <p>Where the second K is in parts and results go through the cache, its results are blocks that
 * are read, too. Past the cache the partial sums that are read back cost as much in every order.
 */
abstract class ChainStates extends SearchSpace {
  final TileProblem problem;
  final int rows;
  final int columns;
  final int chained;
  final int capacity;

  /**
   * Tiles of both results, in all parts; tile m, n of the first is m · columns + n, the second's
   * follow, the parts of a tile side by side.
   */
  final int tiles;

  private final int parts;

  /** Blocks that are read: those of A, B, with a second matmul C and D, with partial sums E. */
  final int blocks;

  /** The operands' blocks of a tile, moment by moment. */
  final int[][] left;

  final int[][] right;

  /** All blocks that a tile reads, as bits. */
  final long[] reads;

  private final long all;
  private final int[] degree;
  private final int[] rowOf;
  private final int[] columnOf;
  private final int[] lastOf;
  private final int[] newRow;
  private final int[] newColumn;
  private final int[] newLast;
  private final long[] key;

  /**
   * @param useful more capacity than this changes nothing
   */
  ChainStates(TileProblem problem, int useful) {
    this.problem = problem;
    this.rows = problem.rows();
    this.columns = problem.columns();
    this.chained = problem.chained();
    this.tiles = problem.items();
    this.parts = problem.parts();
    this.blocks = blocks(problem);
    this.capacity = (int) Math.min(problem.capacity(), useful);
    this.all = (1L << tiles) - 1;
    left = new int[tiles][];
    right = new int[tiles][];
    reads = new long[tiles];
    for (int tile = 0; tile < tiles; tile++) {
      WorkItem item = item(tile);
      left[tile] = new int[problem.moments(item)];
      right[tile] = new int[problem.moments(item)];
      for (int k = 0; k < left[tile].length; k++) {
        left[tile][k] = problem.left(item, k);
        right[tile][k] = problem.right(item, k);
        reads[tile] |= 1L << left[tile][k] | 1L << right[tile][k];
      }
      reads[tile] |= partialSum(tile);
    }
    degree = new int[blocks];
    rowOf = new int[rows];
    columnOf = new int[columns];
    lastOf = new int[chained];
    newRow = new int[rows];
    newColumn = new int[columns];
    newLast = new int[chained];
    key = new long[Math.max(rows, Math.max(columns, chained))];
  }

  /** Blocks that are read. */
  static int blocks(TileProblem p) {
    int operands = (p.rows() + p.columns()) * p.depth();
    return p.chained() == 0
        ? operands
        : operands
            + p.rows() * p.columns()
            + p.columns() * p.chained()
            + (p.cachedResults() && p.parts() > 1 ? p.rows() * p.chained() : 0);
  }

  final WorkItem item(int tile) {
    int first = rows * columns;
    return tile < first
        ? new WorkItem(0, tile / columns, tile % columns)
        : new WorkItem(1, row(tile), (tile - first) / parts % chained, (tile - first) % parts);
  }

  /** The row of a tile of the second result. */
  private int row(int tile) {
    return (tile - rows * columns) / (chained * parts);
  }

  /**
   * The block, as a bit, in which a part of a tile adds up what others read; 0 if there is none.
   */
  final long partialSum(int tile) {
    return problem.cachedResults() && parts > 1 && tile >= rows * columns
        ? 1L << problem.result(item(tile))
        : 0;
  }

  /** Whether a tile finds a partial sum, which it has to read. */
  final boolean adds(long computed, int tile) {
    return tile >= rows * columns && (computed & siblings(tile)) != 0;
  }

  /** All parts of a tile of the second result, as bits. */
  private long siblings(int tile) {
    int begin = tile - (tile - rows * columns) % parts;
    return ((1L << parts) - 1) << begin;
  }

  final long computed(long state) {
    return state & all;
  }

  @Override
  final boolean done(long state) {
    return computed(state) == all;
  }

  /** Blocks that are in the cache and still read by someone, as bits. */
  abstract long cached(long state);

  /** Whether a tile is not computed and all that it reads exists. */
  final boolean possible(long computed, int tile) {
    if ((computed >>> tile & 1) != 0) {
      return false;
    }
    int first = rows * columns;
    if (tile < first) {
      return true;
    }
    int part = (tile - first) % parts;
    int begin = problem.partBegin(part);
    long read = ((1L << problem.partBegin(part + 1) - begin) - 1) << row(tile) * columns + begin;
    return (computed & read) == read;
  }

  /** What the tiles read that are not computed, this one apart. */
  final long neededBeside(long computed, int tile) {
    long needed = 0;
    for (long rest = all & ~computed; rest != 0; rest &= rest - 1) {
      int other = Long.numberOfTrailingZeros(rest);
      if (other != tile) {
        needed |= reads[other];
      }
    }
    return needed;
  }

  /** The block of a tile's result if there are tiles that read such, else -1. */
  final int readResult(int tile) {
    return chained > 0 && tile < rows * columns || partialSum(tile) != 0
        ? problem.result(item(tile))
        : -1;
  }

  /**
   * {@inheritDoc}
   *
   * <p>A block that is needed and not there needs a load, unless it is a result that is still to be
   * written into the cache. Each load makes at most as many pairs of blocks meet as wait for that
   * block, and as fit beside it. Partial sums that are read back make none meet.
   */
  @Override
  final int bound(long state) {
    long cached = cached(state);
    long computed = computed(state);
    Arrays.fill(degree, 0);
    long missing = 0;
    int pairs = 0;
    for (long rest = all & ~computed; rest != 0; rest &= rest - 1) {
      int tile = Long.numberOfTrailingZeros(rest);
      for (int k = 0; k < left[tile].length; k++) {
        int a = left[tile][k];
        int b = right[tile][k];
        boolean written =
            problem.cachedResults()
                && tile >= rows * columns
                && (computed >>> a - firstResult() & 1) == 0;
        missing |= (written ? 0 : 1L << a) | 1L << b;
        if (!written && ((cached >>> a & 1) == 0 || (cached >>> b & 1) == 0)) {
          pairs++;
          degree[a]++;
          degree[b]++;
        }
      }
    }
    missing &= ~cached;
    int covered = 0;
    int most = 1;
    for (int block = 0; block < blocks; block++) {
      int meets = Math.min(capacity - 1, degree[block]);
      most = Math.max(most, meets);
      covered += (missing >>> block & 1) != 0 ? meets : 0;
    }
    int loads = Long.bitCount(missing) + sumsToRead(computed, cached);
    return pairs <= covered ? loads : loads + Math.ceilDiv(pairs - covered, most);
  }

  /** Loads of partial sums that are needed at least. */
  private int sumsToRead(long computed, long cached) {
    if (parts == 1) {
      return 0;
    }
    int loads = 0;
    for (int tile = rows * columns; tile < tiles; tile += parts) {
      int left = parts - Long.bitCount(computed & siblings(tile));
      boolean begun = left < parts;
      if (!problem.cachedResults()) {
        loads += begun ? left : parts - 1;
      } else if (begun && left > 0 && (cached & partialSum(tile)) == 0) {
        loads++;
      }
    }
    return loads;
  }

  /** The number of the first result's first block. */
  private int firstResult() {
    return (rows + columns) * problem.depth();
  }

  @Override
  final int numbers() {
    return rows + columns + chained;
  }

  @Override
  final int[] renumbering() {
    int[] old = new int[numbers()];
    for (int m = 0; m < rows; m++) {
      old[m] = rowOf[m];
    }
    for (int n = 0; n < columns; n++) {
      old[rows + n] = rows + columnOf[n];
    }
    for (int j = 0; j < chained; j++) {
      old[rows + columns + j] = rows + columns + lastOf[j];
    }
    return old;
  }

  @Override
  final List<WorkItem> items(long computed, int[] names) {
    List<WorkItem> items = new ArrayList<>();
    for (long rest = computed; rest != 0; rest &= rest - 1) {
      WorkItem item = item(Long.numberOfTrailingZeros(rest));
      int column =
          item.gemm() == 0
              ? names[rows + item.column()] - rows
              : names[rows + columns + item.column()] - rows - columns;
      items.add(new WorkItem(item.gemm(), names[item.row()], column, item.part()));
    }
    return items;
  }

  /**
   * Chooses numbers so that states which differ only by them mostly become the same one.
   *
   * @param place of each block: 0 if it is not cached, else what tells cached ones apart
   * @return the computed tiles by the new numbers
   */
  final long renumber(long computed, int[] place) {
    for (int m = 0; m < rows; m++) {
      rowOf[m] = m;
    }
    for (int n = 0; n < columns; n++) {
      columnOf[n] = n;
    }
    for (int j = 0; j < chained; j++) {
      lastOf[j] = j;
    }
    sortRows(computed, place, false);
    sortColumns(computed, place);
    sortRows(computed, place, true);
    sortColumns(computed, place);
    invert(rowOf, newRow);
    invert(columnOf, newColumn);
    invert(lastOf, newLast);
    long renumbered = 0;
    for (long rest = computed; rest != 0; rest &= rest - 1) {
      renumbered |= 1L << newTile(Long.numberOfTrailingZeros(rest));
    }
    return renumbered;
  }

  private static void invert(int[] old, int[] inverse) {
    for (int i = 0; i < old.length; i++) {
      inverse[old[i]] = i;
    }
  }

  private int newTile(int tile) {
    int first = rows * columns;
    return tile < first
        ? newRow[tile / columns] * columns + newColumn[tile % columns]
        : first
            + (newRow[row(tile)] * chained + newLast[(tile - first) / parts % chained]) * parts
            + (tile - first) % parts;
  }

  /** The number of a block after {@link #renumber}. */
  final int newBlock(int block) {
    int depth = problem.depth();
    int b = rows * depth;
    int c = b + depth * columns;
    int d = c + rows * columns;
    int e = d + columns * chained;
    if (block < b) {
      return newRow[block / depth] * depth + block % depth;
    }
    if (block < c) {
      return b + (block - b) / columns * columns + newColumn[(block - b) % columns];
    }
    if (block < d) {
      return c + newRow[(block - c) / columns] * columns + newColumn[(block - c) % columns];
    }
    if (block < e) {
      return d + newColumn[(block - d) / chained] * chained + newLast[(block - d) % chained];
    }
    return e + newRow[(block - e) / chained] * chained + newLast[(block - e) % chained];
  }

  private void sortRows(long computed, int[] place, boolean byPattern) {
    int depth = problem.depth();
    int first = rows * columns;
    for (int m = 0; m < rows; m++) {
      long hash = 1;
      for (int k = 0; k < depth; k++) {
        hash = mix(hash, place[m * depth + k]);
      }
      long sum = 0;
      for (int n = 0; n < columns; n++) {
        int column = columnOf[n];
        long here = computed >>> m * columns + column & 1;
        if (chained > 0) {
          here += 2L * place[firstResult() + m * columns + column];
        }
        // Columns of the first of two matmuls keep their numbers.
        if (byPattern || chained > 0) {
          hash = mix(hash, here);
        } else {
          sum += here;
        }
      }
      for (int j = 0; j < chained; j++) {
        long here = ofLast(computed, place, m, lastOf[j]);
        if (byPattern) {
          hash = mix(hash, here);
        } else {
          sum += here;
        }
      }
      key[m] = mix(hash, sum);
    }
    sort(rowOf, key);
  }

  /** What tells tiles of the second result apart: the parts that are done, and where its sum is. */
  private long ofLast(long computed, int[] place, int m, int j) {
    int tile = rows * columns + (m * chained + j) * parts;
    long done = computed >>> tile & (1L << parts) - 1;
    long sum = partialSum(tile);
    return sum == 0 ? done : done + ((long) place[Long.numberOfTrailingZeros(sum)] << parts);
  }

  private void sortColumns(long computed, int[] place) {
    if (chained == 0) {
      for (int n = 0; n < columns; n++) {
        long hash = 3;
        for (int k = 0; k < problem.depth(); k++) {
          hash = mix(hash, place[rows * problem.depth() + k * columns + n]);
        }
        for (int m = 0; m < rows; m++) {
          hash = mix(hash, computed >>> rowOf[m] * columns + n & 1);
        }
        key[n] = hash;
      }
      sort(columnOf, key);
      return;
    }
    int d = firstResult() + rows * columns;
    for (int j = 0; j < chained; j++) {
      long hash = 5;
      for (int n = 0; n < columns; n++) {
        hash = mix(hash, place[d + n * chained + j]);
      }
      for (int m = 0; m < rows; m++) {
        hash = mix(hash, ofLast(computed, place, rowOf[m], j));
      }
      key[j] = hash;
    }
    sort(lastOf, key);
  }

  private static void sort(int[] numbers, long[] key) {
    for (int i = 1; i < numbers.length; i++) {
      int number = numbers[i];
      int j = i - 1;
      while (j >= 0 && key[numbers[j]] > key[number]) {
        numbers[j + 1] = numbers[j];
        j--;
      }
      numbers[j + 1] = number;
    }
  }

  private static long mix(long hash, long value) {
    long h = (hash ^ value) * 0x9E3779B97F4A7C15L;
    return h ^ h >>> 29;
  }
}
