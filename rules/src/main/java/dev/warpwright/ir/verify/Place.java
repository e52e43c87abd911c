package dev.warpwright.ir.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What holds at a place of a program. Immutable.
 *
 * @param vars the variables that may be used
 * @param buffers the buffers that may be used
 * @param bounds what is known about the variables
 * @param loops the variables of the enclosing loops
 * @param lets what let-bound variables stand for
 * @param everyIteration variables of the enclosing loops that take every value of their interval,
 *     as long as the place is certain to be reached in every iteration
 * @param certain whether the place is reached whenever the program runs
 * @param parting the conditions and loop bounds that threads may have parted at
 */
record Place(
    Set<Var> vars,
    Set<Buffer> buffers,
    Bounds bounds,
    Set<Var> loops,
    Map<Var, Expr> lets,
    Set<Var> everyIteration,
    boolean certain,
    List<Parting> parting) {
  /** A condition or loop bound, and what was known before it. */
  record Parting(Expr condition, Bounds before) {}

  static final Place OUTSIDE =
      new Place(Set.of(), Set.of(), Bounds.NONE, Set.of(), Map.of(), Set.of(), true, List.of());

  Place with(Var v) {
    return new Place(plus(vars, v), buffers, bounds, loops, lets, everyIteration, certain, parting);
  }

  Place with(Buffer buffer) {
    return new Place(
        vars, plus(buffers, buffer), bounds, loops, lets, everyIteration, certain, parting);
  }

  /** With several buffers: one by one, each would copy those before it. */
  Place with(Set<Buffer> more) {
    Set<Buffer> all = new HashSet<>(buffers);
    all.addAll(more);
    return new Place(vars, all, bounds, loops, lets, everyIteration, certain, parting);
  }

  Place with(Bounds newBounds) {
    return new Place(vars, buffers, newBounds, loops, lets, everyIteration, certain, parting);
  }

  Place withLet(Var v, Expr value) {
    Map<Var, Expr> copy = new HashMap<>(lets);
    copy.put(v, value);
    return new Place(
        plus(vars, v),
        buffers,
        bounds.withValue(v, value),
        loops,
        copy,
        everyIteration,
        certain,
        parting);
  }

  /** In the body of a loop. */
  Place withLoop(Var v) {
    return new Place(
        plus(vars, v), buffers, bounds, plus(loops, v), lets, everyIteration, certain, parting);
  }

  /** In a loop that is certain to take every value of its interval. */
  Place withEveryValue(Var v) {
    return new Place(vars, buffers, bounds, loops, lets, plus(everyIteration, v), certain, parting);
  }

  /** Where it is not certain that execution gets. */
  Place uncertain() {
    return new Place(vars, buffers, bounds, loops, lets, everyIteration, false, parting);
  }

  /** Behind a condition or in a loop of that many iterations. */
  Place partedBy(Expr condition) {
    List<Parting> copy = new ArrayList<>(parting);
    copy.add(new Parting(condition, bounds));
    return new Place(vars, buffers, bounds, loops, lets, everyIteration, certain, copy);
  }

  private static <T> Set<T> plus(Set<T> set, T element) {
    Set<T> copy = new HashSet<>(set);
    copy.add(element);
    return copy;
  }
}
