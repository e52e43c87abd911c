package dev.warpwright.verify.mutation;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A kind of mistake.
 *
 * @param name a few words
 * @param kinds what the simulator may report it as
 * @param mayOnlyChangeResults whether a kernel with it may do nothing undefined, wherever it is, so
 *     that only its results tell
 * @param changes the statements that may stand, by this mistake, for one of a kernel; none for most
 * @param definedAt statements of a kernel at which it may do nothing undefined, though elsewhere it
 *     always does
 */
public record Mutation(
    String name,
    Set<Finding.Kind> kinds,
    boolean mayOnlyChangeResults,
    Function<Kernel, Function<Stmt, List<Stmt>>> changes,
    Function<Kernel, Predicate<Stmt>> definedAt) {
  public Mutation {
    kinds = Set.copyOf(kinds);
  }

  /** The same at every statement. */
  Mutation(
      String name,
      Set<Finding.Kind> kinds,
      boolean mayOnlyChangeResults,
      Function<Kernel, Function<Stmt, List<Stmt>>> changes) {
    this(name, kinds, mayOnlyChangeResults, changes, kernel -> s -> mayOnlyChangeResults);
  }

  /** This, which at some statements only computes something else. */
  Mutation definedAt(Function<Kernel, Predicate<Stmt>> some) {
    return new Mutation(name, kinds, mayOnlyChangeResults, changes, some);
  }

  /** A mistake that does something undefined. */
  static Mutation undefined(
      String name, Function<Stmt, List<Stmt>> changes, Finding.Kind first, Finding.Kind... more) {
    return new Mutation(name, EnumSet.of(first, more), false, kernel -> changes);
  }

  /** A mistake that may do something undefined, or only compute something else. */
  static Mutation wrong(
      String name, Function<Stmt, List<Stmt>> changes, Finding.Kind first, Finding.Kind... more) {
    return new Mutation(name, EnumSet.of(first, more), true, kernel -> changes);
  }

  /** The kernel with this mistake, once for each place where it is possible. */
  public List<Mutant> plant(Kernel kernel) {
    return Planting.plant(kernel, this);
  }
}
