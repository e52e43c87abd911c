package dev.warpwright.space;

import dev.warpwright.ir.Kernel;
import java.util.Map;
import java.util.function.Supplier;

/** A way to compute a workload, with decisions left open. */
public interface Sketch {
  /** {@return a word that tells it from the other sketches of its space} */
  String name();

  /**
   * Plans a candidate, quickly: hundreds are planned for one that is measured.
   *
   * @param decisions answer what the sketch asks
   * @return the candidate without its point
   * @throws Rejected if what was decided does not fit together
   */
  Plan plan(Decisions decisions);

  /**
   * A candidate without its point.
   *
   * @param features what is expected of it
   * @param kernel builds the kernel
   * @param values of the kernel's scalar parameters, by name
   * @see Candidate
   */
  record Plan(Features features, Supplier<Kernel> kernel, Map<String, Long> values) {}
}
