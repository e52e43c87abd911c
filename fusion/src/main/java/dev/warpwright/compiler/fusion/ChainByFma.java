package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.registers.SimtChain;
import dev.warpwright.networks.registers.SimtTiling;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.networks.stages.StrategyTimes;
import dev.warpwright.target.Calibration;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * {@link RegisterChaining} in f32, by warps that multiply by fma: accumulators are in registers,
 * activations pass through shared memory that no other warp touches, and weights stay there. It
 * takes many rows for all warps to have some, so it fits where there are so many.
 */
final class ChainByFma extends RegisterChaining<SimtTiling> {
  private static final int SCHEDULERS = 4;

  @Override
  public String name() {
    return "shared chaining by warps";
  }

  @Override
  NetworkFunction network(FusionInput in) {
    return in.network();
  }

  @Override
  StageGroup stages(FusionInput in) {
    return in.fused();
  }

  @Override
  String strategy() {
    return CompiledKernel.SHARED_CHAINING;
  }

  @Override
  public double micros(FusionInput in, StrategyTimes times) {
    return times.warps();
  }

  @Override
  String refusal(FusionInput in) {
    if (!in.multipliesByFma()) {
      return in.notByFma();
    }
    String refusal = SimtTiling.refusal(in.fused(), in.target());
    return refusal.isEmpty() && !fills(in)
        ? in.rows() + " rows are no tile for each scheduler of each SM"
        : refusal;
  }

  /** Whether each scheduler has a warp with rows, on all SMs but one. */
  private static boolean fills(FusionInput in) {
    return in.rows() > (in.sms() - 1L) * SCHEDULERS * SimtTiling.FEWEST_ROWS;
  }

  @Override
  String tooLarge() {
    return "its weights and activations take too much shared memory, or its layers too much code";
  }

  @Override
  List<SimtTiling> tilings(FusionInput in) {
    return refusal(in).isEmpty()
        ? SimtTiling.candidates(in.fused(), in.target(), in.sms())
        : List.of();
  }

  @Override
  List<SimtTiling> measured(FusionInput in) {
    return tilings(in);
  }

  @Override
  ToDoubleFunction<SimtTiling> micros(FusionInput in, int sms, Calibration calibration) {
    return tiling -> idle(in, tiling.warps(), tiling.rows());
  }

  @Override
  int warps(SimtTiling tiling) {
    return tiling.warps();
  }

  @Override
  long rows(SimtTiling tiling) {
    return tiling.rows();
  }

  @Override
  String text(SimtTiling tiling) {
    return tiling.text();
  }

  @Override
  Scheduled schedule(FusionInput in, SimtTiling tiling) {
    return SimtChain.schedule(in.fused(), tiling);
  }

  @Override
  String why(FusionInput in, SimtTiling tiling) {
    return String.format(
        Locale.ROOT,
        "each of %d warps passes activations of %d rows through shared memory of its own, so it"
            + " waits for no other; weights stay there, too",
        tiling.warps(),
        tiling.rows());
  }
}
