package dev.warpwright.ir;

import org.jspecify.annotations.Nullable;

/**
 * Warps that execute a part of a tile program of their own, beside the other roles.
 *
 * @param name an identifier
 * @param instance the number of the instance in the body, from 0; null if the body does not ask
 * @param instances how many there are; each executes the body
 * @param warps of one instance
 * @param attrs {@code registers}: of a thread
 * @param body what an instance does
 */
public record Role(
    String name, @Nullable Var instance, int instances, int warps, Attrs attrs, Stmt body) {
  /** Checks that there are instances and warps. */
  public Role {
    if (instances < 1 || warps < 1) {
      throw new IllegalArgumentException(
          "role " + name + " has " + instances + " instances of " + warps + " warps");
    }
  }

  /**
   * {@return the same with another body}
   *
   * @param newBody what an instance does
   */
  public Role withBody(Stmt newBody) {
    return newBody == body ? this : new Role(name, instance, instances, warps, attrs, newBody);
  }
}
