package dev.warpwright.networks.stages;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.type.Type;
import dev.warpwright.model.function.NetworkFunction.Stage;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;

/**
 * What an element of a formula, or of a reduction, costs; what it says twice is computed once. Of
 * two neighbours in 16 bits that share a reciprocal ({@code lower.gpu.SharedReciprocal}) each
 * counts with one of its own.
 *
 * @param simple additions, multiplications and the like
 * @param choices comparisons, and what they choose between
 * @param functions calls that function units compute
 * @param shared how many of them are reciprocals that two neighbours in 16 bits share
 */
public record FormulaWork(int simple, int choices, int functions, int shared) {
  private static final Set<BinaryOp> COMPARISONS =
      EnumSet.of(BinaryOp.LT, BinaryOp.LE, BinaryOp.EQ, BinaryOp.NE);

  /** For each call of a function unit, where two neighbours share reciprocals. */
  private static final int OPERATIONS = 4;

  public static FormulaWork of(StageGroup group, Stage stage) {
    Set<Expr> seen = new HashSet<>();
    int[] count = new int[4];
    group.expressions(
        stage,
        e -> {
          boolean wide = e.type().equals(Type.F32);
          if (seen.add(e) && (wide || isComparison(e))) {
            count(e, count);
          }
        });
    // Formulas that would wait for other operations share none.
    int shared = count[0] <= OPERATIONS * count[2] ? count[3] : 0;
    return new FormulaWork(count[0], count[1], count[2], shared);
  }

  /** Whether it is 1 / (1 + 2ˣ). */
  private static boolean isShared(Expr.Call call) {
    return call.op() == MathOp.RCP_APPROX
        && call.args().getFirst() instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
        && op == BinaryOp.ADD
        && (isPower(a) || isPower(b));
  }

  private static boolean isPower(Expr e) {
    return e instanceof Expr.Call call && call.op() == MathOp.EXP2_APPROX;
  }

  private static boolean isComparison(Expr e) {
    return e instanceof Expr.Binary(BinaryOp op, Expr a, Expr _)
        && COMPARISONS.contains(op)
        && a.type().equals(Type.F32);
  }

  private static void count(Expr e, int[] count) {
    if (isComparison(e) || e instanceof Expr.Select) {
      count[1]++;
    } else if (e instanceof Expr.Binary) {
      count[0]++;
    } else if (e instanceof Expr.Call call) {
      boolean simple = call.op() == MathOp.FMA || call.op() == MathOp.ABS;
      // Arguments of sines are multiplied by what makes them turns.
      boolean turns = call.op() == MathOp.SIN_APPROX || call.op() == MathOp.COS_APPROX;
      count[0] += simple || turns ? 1 : 0;
      count[2] += simple ? 0 : 1;
      count[3] += isShared(call) ? 1 : 0;
    }
  }
}
