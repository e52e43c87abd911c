package dev.warpwright.lower.copy;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.target.MatrixRows;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Two neighbours of a row in global memory as the word of a register: one load for both, where a
 * map only moves elements of 16 bits, masked or not, and all pairs begin at multiples of 4 bytes.
 *
 * <pre>{@code
 * h[w] = pack(c < 140 ? x[r, c] : 0, c + 1 < 140 ? x[r, c + 1] : 0)
 *     becomes
 * h[w] = c < 140 ? bitcast(u32, x[r, ramp(c, 1, 2)]) : 0
 * }</pre>
 */
public final class GlobalPairs {
  private GlobalPairs() {}

  /** Whether what a thread holds of a row begins at even columns. */
  public static boolean beginEven(FragmentLayout layout) {
    return Stream.concat(layout.threadDigits().stream(), layout.registerDigits().stream().skip(1))
        .allMatch(digit -> digit.colStep() % 2 == 0);
  }

  /**
   * The word; null if the value is no such load.
   *
   * @param to type of the register's elements
   * @param column of the first of both, even
   */
  public static @Nullable Expr word(Stmt.TileMap map, DType to, Expr value, Expr row, Expr column) {
    Var col = map.vars().getLast();
    List<Expr> conditions = new ArrayList<>();
    Expr inner = value;
    while (inner instanceof Expr.Select(Expr condition, Expr then, Expr otherwise)
        && Exprs.zero(then.type()).equals(otherwise)) {
      if (!isOfBoth(condition, col)) {
        return null;
      }
      conditions.add(condition);
      inner = then;
    }
    if (!(inner instanceof Expr.Load(Buffer memory, List<Expr> indices))
        || memory.scope() != Scope.GLOBAL
        || memory.dtype() != to
        || to.bytes() != 2
        || !indices.getLast().equals(col)
        || indices.subList(0, indices.size() - 1).stream().anyMatch(index -> has(index, col))
        || !isAligned(memory)) {
      return null;
    }
    Substitution at = Substitution.ofVars(Map.of(map.vars().getFirst(), row, col, column));
    List<Expr> place = ThreadCode.ramped(indices.stream().map(at::expr).toList(), 2);
    Expr word = new Expr.Bitcast(Type.U32, new Expr.Load(memory, place));
    for (Expr condition : conditions.reversed()) {
      word = Exprs.select(at.expr(condition), word, Exprs.zero(Type.U32));
    }
    return word;
  }

  /** Whether rows, and pairs of them, begin at words. */
  private static boolean isAligned(Buffer memory) {
    return memory.rank() == 2
        && memory.alignment() >= 4
        && (memory.layout() == null || MatrixRows.are(memory))
        && MatrixRows.leadingDimension(memory) % 2 == 0;
  }

  /** Whether what holds of an even column does of the next one. */
  private static boolean isOfBoth(Expr condition, Var col) {
    return condition instanceof Expr.Binary(BinaryOp op, Expr a, Expr.IntImm bound)
            && op == BinaryOp.LT
            && a == col
            && bound.value() % 2 == 0
        || !has(condition, col);
  }

  private static boolean has(Expr e, Var col) {
    boolean[] found = {false};
    Walk.expressions(e, inner -> found[0] |= inner == col);
    return found[0];
  }
}
