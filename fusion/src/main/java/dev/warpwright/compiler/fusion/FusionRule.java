package dev.warpwright.compiler.fusion;

import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.networks.stages.StrategyTimes;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A rule of the {@linkplain FusionPlanner planner}: which networks it fits, what kernels it makes
 * of them, and what these are expected to take.
 */
sealed interface FusionRule permits RegisterChaining, SharedChaining, GemmPerLayer, SimpleLayers {
  /** Its name in reports, for example {@code shared chaining}. */
  String name();

  /** Whether it fits a network, told by shapes alone, and what it is expected to take. */
  Verdict judge(FusionInput in);

  /** Microseconds that it is expected to take on a device; NaN if the times do not tell. */
  double micros(FusionInput in, StrategyTimes times);

  /** Makes the kernels, or says what was in the way. */
  Attempt apply(FusionInput in, FusionAttempts attempts);

  /**
   * The ways in which it may be applied, the presumably fastest first.
   *
   * @param gemms makes the kernels of the families, which are closed again; null for none
   */
  List<Alternative> ways(FusionInput in, @Nullable Supplier<GemmKernels> gemms);
}
