package dev.warpwright.ir;

/** The indices {@code min, min + 1, …, min + extent - 1}. */
public record Range(Expr min, Expr extent) {
  /** From 0. */
  public static Range of(long extent) {
    return new Range(Exprs.i32(0), Exprs.i32(extent));
  }

  /** One index. */
  public static Range at(Expr index) {
    return new Range(index, Exprs.i32(1));
  }

  /** Whether this covers exactly one index. */
  public boolean isPoint() {
    return extent instanceof Expr.IntImm imm && imm.value() == 1;
  }
}
