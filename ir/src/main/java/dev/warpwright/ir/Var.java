package dev.warpwright.ir;

import dev.warpwright.ir.type.Type;

/**
 * A scalar variable: a loop variable, a let-bound value or a scalar parameter. Two variables are
 * the same only if they are the same object; names are for reading and need not be unique.
 */
public final class Var implements Expr {
  private final String name;
  private final Type type;

  public Var(String name, Type type) {
    this.name = name;
    this.type = type;
  }

  /** A new {@code i32} variable, as loops and indices use. */
  public static Var index(String name) {
    return new Var(name, Type.I32);
  }

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
