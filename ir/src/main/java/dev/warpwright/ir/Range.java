package dev.warpwright.ir;

/**
 * The indices {@code min, min + 1, …, min + extent - 1}.
 *
 * @param min the first index
 * @param extent how many
 */
public record Range(Expr min, Expr extent) {
  /**
   * {@return the range of so many indices from 0 on}
   *
   * @param extent how many
   */
  public static Range of(long extent) {
    return new Range(Exprs.i32(0), Exprs.i32(extent));
  }

  /**
   * {@return the range of one index}
   *
   * @param index the only one
   */
  public static Range at(Expr index) {
    return new Range(index, Exprs.i32(1));
  }

  /** {@return whether this covers exactly one index} */
  public boolean isPoint() {
    return extent instanceof Expr.IntImm imm && imm.value() == 1;
  }
}
