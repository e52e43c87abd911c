package dev.warpwright.model.function;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.function.NetworkFunction.Ending;
import dev.warpwright.workload.tensor.Tensor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How the elements of a value come about.
 *
 * @param inFlight whether an accumulator is read, which only the stages right behind its product
 *     can do
 * @param sameInRow whether the column does not matter
 * @param pointwise whether other columns are not read
 * @param loaded the tensor that it is read from, if it is nothing but read
 * @param ending what it is, if it is what an epilogue makes of a product
 */
record Element(
    Formula formula,
    boolean inFlight,
    boolean sameInRow,
    boolean pointwise,
    @Nullable Supplier<Tensor> loaded,
    @Nullable Ending ending) {
  /** Sines and the like are some twenty operations: a formula of 200 of them is no method. */
  private static final int CALL_NODES = 8;

  /** An f32 element of a value as an expression of its row and column. */
  @FunctionalInterface
  interface Formula {
    Expr at(Expr row, Expr col);
  }

  Element(Formula formula, boolean inFlight, boolean sameInRow) {
    this(formula, inFlight, sameInRow, true, null, null);
  }

  /** Elements of a tensor. */
  static Element of(Tensor tensor) {
    return new Element(
        (row, col) -> tensor.f32At(row, col), false, false, true, () -> tensor, null);
  }

  Element with(@Nullable Ending newEnding) {
    return new Element(formula, inFlight, sameInRow, pointwise, loaded, newEnding);
  }

  Expr at(Expr row, Expr col) {
    return formula.at(row, col);
  }

  /** Nodes; a function counts as what it becomes on devices that do not have it. */
  int size() {
    int[] size = {0};
    Walk.expressions(
        at(Var.index("i"), Var.index("j")),
        e -> size[0] += e instanceof Expr.Call ? CALL_NODES : 1);
    return size[0];
  }

  boolean calls() {
    boolean[] found = {false};
    Walk.expressions(at(Var.index("i"), Var.index("j")), e -> found[0] |= e instanceof Expr.Call);
    return found[0];
  }
}
