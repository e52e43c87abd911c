package dev.warpwright.compiler.fusion;

import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Kernel;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What rules are applied with, and what those applied so far met. */
final class FusionAttempts {
  private final @Nullable GemmKernels gemms;
  private final Predicate<Kernel> fast;
  private final SequencedMap<FusionRule, String> refusals = new LinkedHashMap<>();

  /**
   * None so far.
   *
   * @param gemms the families' kernels, null for none
   * @param fast whether a kernel compiles to what it is meant to be: without spills, say
   */
  FusionAttempts(@Nullable GemmKernels gemms, Predicate<Kernel> fast) {
    this.gemms = gemms;
    this.fast = fast;
  }

  @Nullable GemmKernels gemms() {
    return gemms;
  }

  Predicate<Kernel> fast() {
    return fast;
  }

  void refused(FusionRule rule, String why) {
    refusals.put(rule, why);
  }

  /** What stood in the way of a rule that was applied; null if it was not, or nothing did. */
  @Nullable String refusal(FusionRule rule) {
    return refusals.get(rule);
  }

  /** What stood in the way of one kernel, as the last rule met it; null if none was applied. */
  @Nullable String lastRefusal() {
    return refusals.isEmpty() ? null : refusals.lastEntry().getValue();
  }
}
