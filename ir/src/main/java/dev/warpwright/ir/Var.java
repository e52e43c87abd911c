package dev.warpwright.ir;

import dev.warpwright.ir.type.Type;

/**
 * A scalar variable: a loop variable, a let-bound value or a scalar parameter. Two variables are
 * the same only if they are the same object; names are for reading and need not be unique.
 */
public final class Var implements Expr {
  private final String name;
  private final Type type;

  /**
   * A new variable, different from all others, also from those of its name.
   *
   * @param name an identifier
   * @param type of its values
   */
  public Var(String name, Type type) {
    this.name = name;
    this.type = type;
  }

  /**
   * {@return a new {@code i32} variable, as loops and indices use}
   *
   * @param name an identifier
   */
  public static Var index(String name) {
    return new Var(name, Type.I32);
  }

  /** {@return its name; other variables may have the same} */
  public String name() {
    return name;
  }

  @Override
  public Type type() {
    return type;
  }

  @Override
  public String toString() {
    return name;
  }
}
