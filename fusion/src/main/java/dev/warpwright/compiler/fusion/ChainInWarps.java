package dev.warpwright.compiler.fusion;

import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.registers.ChainTimes;
import dev.warpwright.networks.registers.WarpChain;
import dev.warpwright.networks.registers.WarpTiling;
import dev.warpwright.networks.stages.StrategyTimes;
import dev.warpwright.target.Calibration;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * {@link RegisterChaining} by warps: each carries 16 or 32 rows, and mma.sync takes both operands
 * from registers. For sm_80 and later in 16 bits; where warpgroups do the same with faster
 * instructions, to be measured, or if these are expected to wait for weights that long, or multiply
 * so few columns at a time, that they are slower.
 */
final class ChainInWarps extends RegisterChaining<WarpTiling> {
  /** Ways to measure where warpgroups carry networks, too, and elsewhere. */
  private static final int FEW = 4;

  private static final int MOST = 6;

  @Override
  public String name() {
    return "register chaining by warps";
  }

  @Override
  String refusal(FusionInput in) {
    return in.target().hasHopper() && areWarpgroupsFaster(in)
        ? "on " + in.target().name() + " warpgroups chain, whose GEMMs are faster"
        : WarpTiling.refusal(in.chained(), in.target());
  }

  /** Where warpgroups do not chain, for weights do not fit in their form, warps may. */
  private boolean areWarpgroupsFaster(FusionInput in) {
    ChainInWarpgroups warpgroups = new ChainInWarpgroups();
    return warpgroups.judge(in) instanceof Verdict.Fires
        && in.expected(warpgroups) <= in.expected(this);
  }

  /** Beside warpgroups by the first of its sizes. */
  @Override
  public double micros(FusionInput in, StrategyTimes times) {
    if (!in.target().hasHopper()) {
      return times.registers();
    }
    List<WarpTiling> measured = measured(in);
    return measured.isEmpty()
        ? Double.POSITIVE_INFINITY
        : micros(in, times.device().sms()).applyAsDouble(measured.getFirst());
  }

  @Override
  ToDoubleFunction<WarpTiling> micros(FusionInput in, int sms, Calibration calibration) {
    if (!in.target().hasHopper()) {
      return tiling -> idle(in, tiling.warps(), tiling.rows());
    }
    ChainTimes times = new ChainTimes(calibration);
    return tiling -> times.micros(tiling, in.chained(), sms, in.rows());
  }

  /** By warpgroups, where these spill less. */
  @Override
  @Nullable Compiled instead(FusionInput in, FusionAttempts attempts, double micros) {
    ChainInWarpgroups warpgroups = new ChainInWarpgroups();
    return in.target().hasHopper()
        ? warpgroups.fastest(in, attempts, warpgroups.tilings(in), micros)
        : null;
  }

  @Override
  String tooLarge() {
    return "its activations take too many registers";
  }

  @Override
  List<WarpTiling> tilings(FusionInput in) {
    if (!refusal(in).isEmpty()) {
      return List.of();
    }
    return in.target().hasHopper()
        ? measured(in)
        : fastestFirst(in, WarpTiling.candidates(in.chained(), in.target(), in.sms()));
  }

  @Override
  List<WarpTiling> measured(FusionInput in) {
    if (!WarpTiling.refusal(in.chained(), in.target()).isEmpty()) {
      return List.of();
    }
    List<WarpTiling> all = WarpTiling.alternatives(in.chained(), in.target(), in.sms());
    return fastestFirst(
        in, all.subList(0, Math.min(in.target().hasHopper() ? FEW : MOST, all.size())));
  }

  @Override
  int warps(WarpTiling tiling) {
    return tiling.warps();
  }

  @Override
  long rows(WarpTiling tiling) {
    return tiling.rows();
  }

  @Override
  String text(WarpTiling tiling) {
    return tiling.text();
  }

  @Override
  Scheduled schedule(FusionInput in, WarpTiling tiling) {
    return WarpChain.schedule(in.chained(), tiling);
  }

  @Override
  String why(FusionInput in, WarpTiling tiling) {
    int all = in.chained().products().size();
    long stay = in.chained().products().stream().filter(tiling::stays).count();
    String weights =
        stay == all
            ? "so only weights are in shared memory, where they stay"
            : String.format(
                Locale.ROOT,
                "and %d of %d weights stay in shared memory; the others are read through L1 and L2",
                stay,
                all);
    return String.format(
        Locale.ROOT,
        "each of %d warps holds activations of %d rows in registers, %s",
        tiling.warps(),
        tiling.rows(),
        weights);
  }
}
