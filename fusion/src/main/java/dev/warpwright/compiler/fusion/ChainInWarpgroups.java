package dev.warpwright.compiler.fusion;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.registers.ChainTiling;
import dev.warpwright.networks.registers.ChainTimes;
import dev.warpwright.networks.registers.RegisterChain;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.networks.stages.StrategyTimes;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceCatalogue;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * {@link RegisterChaining} by warpgroups: each carries 64 rows, and wgmma takes weights from shared
 * memory. For sm_90a, 16-bit operands or tf32, and layers of at most 256 columns, which is what a
 * thread's registers hold.
 */
final class ChainInWarpgroups extends RegisterChaining<ChainTiling> {
  @Override
  public String name() {
    return "register chaining by warpgroups";
  }

  @Override
  String refusal(FusionInput in) {
    return ChainTiling.refusal(in.chained(), in.target());
  }

  @Override
  String tooLarge() {
    return "its weights and activations do not fit";
  }

  @Override
  List<ChainTiling> tilings(FusionInput in) {
    if (!refusal(in).isEmpty()) {
      return List.of();
    }
    return fastestFirst(
        in, ChainTiling.candidates(in.chained(), in.target(), in.sms(), waitsForMemory(in)));
  }

  @Override
  List<ChainTiling> measured(FusionInput in) {
    return tilings(in);
  }

  /** By the first of its sizes. */
  @Override
  public double micros(FusionInput in, StrategyTimes times) {
    List<ChainTiling> tilings = tilings(in);
    return tilings.isEmpty()
        ? Double.POSITIVE_INFINITY
        : micros(in, times.device().sms()).applyAsDouble(tilings.getFirst());
  }

  @Override
  ToDoubleFunction<ChainTiling> micros(FusionInput in, int sms, Calibration calibration) {
    ChainTimes times = new ChainTimes(calibration);
    Set<Buffer> constants = LinkedNetwork.constants(in.chain());
    return tiling -> times.micros(tiling, in.chained(), constants, sms, in.rows());
  }

  /**
   * By warps: 12-176-…-16 of 8 layers with a tangent spills 4544 bytes whatever the sizes, so its
   * GEMMs wait for each other, and takes 446 µs on an H200; 226 by warps.
   */
  @Override
  @Nullable Compiled instead(FusionInput in, FusionAttempts attempts, double micros) {
    ChainInWarps warps = new ChainInWarps();
    return warps.fastest(in, attempts, warps.measured(in), micros);
  }

  @Override
  int warps(ChainTiling tiling) {
    return tiling.consumers();
  }

  @Override
  long rows(ChainTiling tiling) {
    return RegisterChain.ROWS;
  }

  @Override
  String text(ChainTiling tiling) {
    return tiling.text();
  }

  @Override
  Scheduled schedule(FusionInput in, ChainTiling tiling) {
    return RegisterChain.schedule(in.chained(), tiling);
  }

  @Override
  String why(FusionInput in, ChainTiling tiling) {
    return String.format(
        Locale.ROOT,
        "each of %d warpgroups holds activations of %d rows in registers, so only weights%s"
            + " pass through shared memory",
        tiling.consumers(),
        RegisterChain.ROWS,
        tiling.stagesResults() ? " and results" : "");
  }

  /** Whether rows take longer to move than to compute, on the largest device of the target. */
  private static boolean waitsForMemory(FusionInput in) {
    StageGroup group = in.chained();
    double bytes = 0;
    for (Stage stage : group.stages()) {
      if (stage instanceof Load load) {
        bytes += load.from().extent(1) * load.from().dtype().bytes();
      } else if (stage instanceof Store store) {
        bytes += store.to().extent(1) * store.to().dtype().bytes();
      }
    }
    double flops = 2.0 * group.products().stream().mapToLong(p -> p.n() * p.k()).sum();
    double moved = bytes;
    return DeviceCatalogue.largest(in.target())
        .map(d -> moved / (d.dramGBs() * 1e9) > flops / in.precision().peak(d))
        .orElse(false);
  }
}
