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
 * counts with one of its own: what calls take was fitted to times of kernels without that.
 *
 * @param simple additions, multiplications and the like
 * @param choices comparisons, and what they choose between
 * @param functions calls that function units compute
 */
public record FormulaWork(int simple, int choices, int functions) {
  private static final Set<BinaryOp> COMPARISONS =
      EnumSet.of(BinaryOp.LT, BinaryOp.LE, BinaryOp.EQ, BinaryOp.NE);

  public static FormulaWork of(StageGroup group, Stage stage) {
    Set<Expr> seen = new HashSet<>();
    int[] count = new int[3];
    group.expressions(
        stage,
        e -> {
          boolean wide = e.type().equals(Type.F32);
          if (seen.add(e) && (wide || isComparison(e))) {
            count(e, count);
          }
        });
    return new FormulaWork(count[0], count[1], count[2]);
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
    }
  }
}
