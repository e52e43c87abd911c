package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.networks.rows.GpuTiling;
import dev.warpwright.networks.stages.StrategyTimes;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link SharedChaining} without tensor cores, where each thread multiplies a tile of accumulators
 * by what it has read of shared memory once. It takes many rows a block, so it fits where there is
 * a tile of rows for each SM.
 */
final class TilesInRegisters extends SharedChaining {
  /** A kernel takes a second to compile. */
  private static final int MOST_TRIED = 4;

  @Override
  public String name() {
    return "shared chaining by tiles of registers";
  }

  /** Sizes, the presumably fastest first. */
  private static List<GpuTiling> tilings(FusionInput in) {
    return in.multipliesByFma() && !in.fused().products().isEmpty()
        ? GpuTiling.tiles(in.fused(), in.target())
        : List.of();
  }

  /** Whether the rows are a tile for each SM. */
  private static boolean fills(FusionInput in, GpuTiling tiling) {
    return in.rows() > (in.sms() - 1L) * tiling.rows();
  }

  @Override
  public Verdict judge(FusionInput in) {
    String refusal = tooManyResults(in);
    if (!refusal.isEmpty()) {
      return new Verdict.DoesNotFire(refusal);
    }
    if (!in.multipliesByFma()) {
      return new Verdict.DoesNotFire(in.notByFma());
    }
    List<GpuTiling> tilings = tilings(in);
    if (tilings.isEmpty()) {
      return new Verdict.DoesNotFire("no tile of a thread divides its layers' columns");
    }
    if (tilings.stream().noneMatch(tiling -> fills(in, tiling))) {
      return new Verdict.DoesNotFire(in.rows() + " rows are no tile for each SM");
    }
    return new Verdict.Fires(in.expected(this));
  }

  @Override
  public double micros(FusionInput in, StrategyTimes times) {
    return times.tiles();
  }

  @Override
  public Attempt apply(FusionInput in, FusionAttempts attempts) {
    Attempt last = Attempt.refused("");
    for (GpuTiling tiling :
        tilings(in).stream().filter(t -> fills(in, t)).limit(MOST_TRIED).toList()) {
      last = make(in, tiling, unchained(in, attempts), way(tiling));
      if (last.program() != null) {
        if (attempts.spills(last.program()) == 0) {
          return last;
        }
        last = Attempt.refused("it compiles to a slow kernel by " + tiling.text());
      }
    }
    return last;
  }

  @Override
  public List<Alternative> ways(FusionInput in, @Nullable Supplier<GemmKernels> gemms) {
    return ways(in, true);
  }

  /** Ways that leave SMs without rows: not expected to be fast, but there to be measured. */
  static List<Alternative> idle(FusionInput in) {
    return ways(in, false);
  }

  private static String way(GpuTiling tiling) {
    return CompiledKernel.SHARED_CHAINING + " " + tiling.text();
  }

  private static List<Alternative> ways(FusionInput in, boolean filling) {
    return tilings(in).stream()
        .filter(tiling -> fills(in, tiling) == filling)
        .map(
            tiling ->
                new Alternative(
                    way(tiling), () -> make(in, tiling, ANOTHER_WAY, way(tiling)).made()))
        .toList();
  }
}
