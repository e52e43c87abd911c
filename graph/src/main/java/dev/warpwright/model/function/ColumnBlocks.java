package dev.warpwright.model.function;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.model.graph.Columns;
import org.jspecify.annotations.Nullable;

/**
 * Chosen columns as blocks of one or two runs each, which begin as far apart in each block: what
 * remains where a cache is appended to, or halves are exchanged head by head.
 *
 * <pre>{@code
 * sources 0 1 2 6  3 4 5 7   blocks of 4: a run of 3 from 0 on, 3 apart, and one of 1 from 6 on, 1 apart
 * }</pre>
 *
 * @param first length of a block's first run
 * @param block length of a block
 * @param from where the first block's first run begins, {@code step} further in the next
 * @param thenFrom where its second run begins, {@code thenStep} further in the next
 */
record ColumnBlocks(int first, int block, int from, int step, int thenFrom, int thenStep) {
  /** The columns in this form; null if they have another. */
  static @Nullable ColumnBlocks of(Columns columns) {
    int count = columns.output().features();
    int first = run(columns, 0, count);
    ColumnBlocks ofOne = of(columns, count, first, 0);
    return ofOne != null ? ofOne : of(columns, count, first, run(columns, first, count));
  }

  /** With runs of these lengths in a block; null if the columns are others. */
  private static @Nullable ColumnBlocks of(Columns columns, int count, int first, int second) {
    int block = first + second;
    int next = block < count ? block : 0;
    int thenNext = next == 0 ? first : Math.min(next + first, count - 1);
    ColumnBlocks found =
        new ColumnBlocks(
            first,
            block,
            columns.source(0),
            columns.source(next) - columns.source(0),
            second == 0 ? 0 : columns.source(first),
            second == 0 ? 0 : columns.source(thenNext) - columns.source(first));
    for (int n = 0; n < count; n++) {
      if (found.source(n) != columns.source(n)) {
        return null;
      }
    }
    return found;
  }

  /** How many columns from one on follow each other. */
  private static int run(Columns columns, int from, int count) {
    int end = from;
    while (end < count && columns.source(end) == columns.source(from) + end - from) {
      end++;
    }
    return end - from;
  }

  private long source(int n) {
    long at = n / block;
    int place = n % block;
    return place < first ? from + at * step + place : thenFrom + at * thenStep + place - first;
  }

  /** The source of a column. */
  Expr source(Expr column) {
    Expr at = Exprs.div(column, block);
    Expr place = Exprs.mod(column, block);
    Expr own = Exprs.add(Exprs.add(Exprs.mul(at, step), from), place);
    Expr then = Exprs.add(Exprs.add(Exprs.mul(at, thenStep), thenFrom - first), place);
    return first == block ? own : Exprs.select(Exprs.lt(place, Exprs.i32(first)), own, then);
  }
}
