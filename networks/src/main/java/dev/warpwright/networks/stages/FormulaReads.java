package dev.warpwright.networks.stages;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.function.NetworkFunction.Stage;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a formula needs besides its operand.
 *
 * @param columns vectors that are the same for all rows: a bias, the weights of a few inputs
 * @param elements of each row
 * @param sums whether it reads accumulators
 * @param functions whether it calls functions
 */
public record FormulaReads(int columns, int elements, boolean sums, boolean functions) {
  public static FormulaReads of(StageGroup group, Stage stage) {
    Set<Expr.Load> columns = new HashSet<>();
    Set<Expr.Load> elements = new HashSet<>();
    boolean[] found = {false, false};
    List<Buffer> params = group.func().buffers();
    group.expressions(
        stage,
        e -> {
          if (e instanceof Expr.Load load) {
            Buffer buffer = load.buffer();
            boolean param = params.contains(buffer);
            if (param && buffer.scope() == Scope.GLOBAL) {
              (buffer.hasConstantShape() ? columns : elements).add(load);
            }
            found[0] |= !param && buffer.dtype() == DType.F32;
          } else if (e instanceof Expr.Call call && call.op() != MathOp.FMA) {
            found[1] = true;
          }
        });
    return new FormulaReads(columns.size(), elements.size(), found[0], found[1]);
  }
}
