package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Kernel;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** What rules are applied with, and what those applied so far met. */
final class FusionAttempts {
  private final @Nullable GemmKernels gemms;
  private final ToIntFunction<Kernel> spills;
  private final SequencedMap<FusionRule, String> refusals = new LinkedHashMap<>();

  /**
   * None so far.
   *
   * @param gemms the families' kernels, null for none
   * @param spills what a kernel spills, in bytes; 0 if it compiles to what it is meant to be
   */
  FusionAttempts(@Nullable GemmKernels gemms, ToIntFunction<Kernel> spills) {
    this.gemms = gemms;
    this.spills = spills;
  }

  @Nullable GemmKernels gemms() {
    return gemms;
  }

  /** What the first kernel of a program spills. */
  int spills(CompiledProgram program) {
    return spills.applyAsInt(program.kernels().getFirst().kernel());
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
