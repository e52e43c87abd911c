package dev.warpwright.verify.mutation;

import dev.warpwright.ir.Kernel;

/**
 * A kernel with one mistake.
 *
 * @param mutation the kind of mistake
 * @param kernel the changed kernel
 * @param line of the original kernel's text on which the changed statement begins
 * @param statement that line, without indentation
 * @param mayOnlyChangeResults whether nothing undefined need happen at this place, so that only the
 *     results tell
 * @param trap the original kernel with a division by zero in front of that statement: it has a
 *     finding exactly if the statement is executed
 */
public record Mutant(
    Mutation mutation,
    Kernel kernel,
    int line,
    String statement,
    boolean mayOnlyChangeResults,
    Kernel trap) {
  @Override
  public String toString() {
    return mutation.name() + " in line " + line + " '" + statement + "'";
  }
}
