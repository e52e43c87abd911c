package dev.warpwright.schedule;

import dev.warpwright.ir.Var;

/**
 * A loop of a scheduled function, by its variable. It stays valid until a primitive replaces the
 * loop by others.
 *
 * @param id its name in the trace, such as {@code l3}
 * @param variable of the loop in the program
 */
public record LoopRef(String id, Var variable) {
  @Override
  public String toString() {
    return id + "(" + variable.name() + ")";
  }
}
