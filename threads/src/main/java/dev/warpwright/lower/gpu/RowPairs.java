package dev.warpwright.lower.gpu;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Fragments of which a thread holds pairs of rows below each other ({@link
 * WarpgroupInstruction.Rows#PAIRED}): memory that has rows side by side takes and gives them in one
 * access.
 */
public final class RowPairs {
  /** Rows of a pair. */
  public static final int ROWS = 2;

  private static final Digit PAIR = new Digit(ROWS, 1, 0);

  private RowPairs() {}

  /**
   * The fragment that a map fills with the transpose of a tile in shared memory, or of rows of one;
   * else null.
   */
  public static @Nullable Buffer gathered(Stmt.TileMap map) {
    Stmt.Store store = map.stores().getFirst();
    return map.stores().size() == 1
            && map.vars().size() == 2
            && store.buffer().scope() == Scope.FRAGMENT
            && store.indices().equals(List.copyOf(map.vars()))
            && store.value() instanceof Expr.Load(Buffer tile, List<Expr> indices)
            && (tile.scope() == Scope.SHARED || tile.scope() == Scope.SHARED_CLUSTER)
            && indices.size() >= 2
            && indices.getLast() == map.vars().getFirst()
            && isColumn(indices.get(indices.size() - 2), map.vars().getLast())
        ? store.buffer()
        : null;
  }

  /** Whether an index is a column, or a constant number of columns on. */
  private static boolean isColumn(Expr index, Var column) {
    return index == column
        || index instanceof Expr.Binary(BinaryOp op, Expr first, Expr.IntImm _)
            && op == BinaryOp.ADD
            && first == column;
  }

  /** Whether a thread holds such pairs. */
  public static boolean are(FragmentLayout layout) {
    return layout.registerDigits().contains(PAIR);
  }

  /**
   * Whether a map's store puts both of a pair next to each other, aligned.
   *
   * @param guard where it stores
   */
  static boolean areStored(Stmt.TileMap map, Stmt.Store store, FragmentLayout layout, Expr guard) {
    Buffer buffer = store.buffer();
    int last = buffer.rank() - 1;
    return are(layout)
        && buffer.scope() == Scope.GLOBAL
        && runsAlong(store.indices().get(last), map.vars().getFirst())
        && buffer.alignment() >= ROWS * buffer.dtype().bytes()
        && (Exprs.isConst(guard, 1) || buffer.extent(last) % ROWS == 0)
        && arePitchesEven(buffer);
  }

  private static boolean runsAlong(Expr index, Var row) {
    return index == row
        || index instanceof Expr.Binary(BinaryOp op, Expr first, Expr second)
            && op == BinaryOp.ADD
            && second == row
            && CopyLowering.multipleOf(first, ROWS);
  }

  /** Whether elements of an even column are at even places. */
  private static boolean arePitchesEven(Buffer buffer) {
    int last = buffer.rank() - 1;
    if (buffer.layout() == null) {
      return last == 0 || buffer.extent(last) % ROWS == 0;
    }
    for (int d = 0; d < last; d++) {
      long[] one = new long[last + 1];
      one[d] = 1;
      if (buffer.layout().offset(one) % ROWS != 0) {
        return false;
      }
    }
    return true;
  }

  /** The first of a pair, and registers from it to the other one. */
  public record Pair(Expr row, Expr col, Expr register, long step) {
    /** The register of one of both. */
    public Expr register(Expr number) {
      return Exprs.add(register, Exprs.mul(number, step));
    }
  }

  /** Visits every pair that the thread holds. */
  public static Stmt over(FragmentLayout layout, ThreadCode code, Function<Pair, Stmt> body) {
    List<Digit> digits = layout.registerDigits();
    int pairs = digits.indexOf(PAIR);
    long step = ThreadCode.registerStep(digits, pairs);
    return code.overRuns(
        layout, pairs, run -> body.apply(new Pair(run.row(), run.col(), run.register(), step)));
  }
}
