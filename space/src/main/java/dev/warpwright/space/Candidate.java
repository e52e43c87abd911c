package dev.warpwright.space;

import dev.warpwright.ir.Kernel;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A kernel that might be good. It is built only when it is wanted, since most candidates are only
 * weighed.
 *
 * @param point the decisions that lead here
 * @param features what is expected of it
 * @param kernel builds the kernel; throws {@link Rejected} if that turns out to be impossible
 * @param values of the kernel's scalar parameters
 */
public record Candidate(
    Point point, Features features, Supplier<Kernel> kernel, Map<String, Long> values) {
  /** Copies the map. */
  public Candidate {
    values = Map.copyOf(values);
  }
}
