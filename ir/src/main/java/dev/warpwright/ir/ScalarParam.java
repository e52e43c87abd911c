package dev.warpwright.ir;

/**
 * A scalar parameter with the range of values for which the function is meant, such as the row
 * count M.
 *
 * @param var the variable that the body uses
 * @param min least value, inclusive
 * @param max greatest value, inclusive
 */
public record ScalarParam(Var var, long min, long max) implements Param {
  /** Checks that the range is not empty. */
  public ScalarParam {
    if (min > max) {
      throw new IllegalArgumentException("empty range " + min + ".." + max + " of " + var);
    }
  }

  @Override
  public String name() {
    return var.name();
  }
}
