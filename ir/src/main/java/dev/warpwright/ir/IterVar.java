package dev.warpwright.ir;

/**
 * An iteration variable of a {@link Stmt.Block}.
 *
 * @param var stands for the value inside the block
 * @param extent the block is meant for values 0 ≤ var &lt; extent
 * @param kind spatial instances may run in any order; reduce instances accumulate
 * @param binding the value, in terms of the loops around the block
 */
public record IterVar(Var var, Expr extent, Kind kind, Expr binding) {
  /** What instances that differ in the variable have to do with each other. */
  public enum Kind {
    /** Each value is an instance of its own: of an element of the result. */
    SPATIAL("spatial"),
    /** Values are combined into one result. */
    REDUCE("reduce");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /** {@return the word in the text form} */
    public String text() {
      return text;
    }
  }

  /** {@return whether values are combined into one result} */
  public boolean isReduce() {
    return kind == Kind.REDUCE;
  }
}
