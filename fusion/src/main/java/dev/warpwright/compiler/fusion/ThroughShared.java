package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.networks.rows.GpuTiling;
import dev.warpwright.networks.stages.StrategyTimes;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link SharedChaining} of any network, with the first sizes whose activations and accumulators
 * fit. It moves all that registers move and activations besides, so it is expected to take no less
 * where these carry the network.
 */
final class ThroughShared extends SharedChaining {
  /** 32-bit registers of a thread that fragments may take; addresses and operands need the rest. */
  private static final int FRAGMENT_REGISTERS = 160;

  @Override
  public String name() {
    return CompiledKernel.SHARED_CHAINING;
  }

  @Override
  public Verdict judge(FusionInput in) {
    String refusal = tooManyResults(in);
    if (!refusal.isEmpty()) {
      return new Verdict.DoesNotFire(refusal);
    }
    return new Verdict.Fires(in.expected(this));
  }

  /** Nowhere less than in registers: where that is expected, launches are what counts. */
  @Override
  public double micros(FusionInput in, StrategyTimes times) {
    return Math.max(times.shared(), FusionPlanner.inRegisters(in, times));
  }

  @Override
  public Attempt apply(FusionInput in, FusionAttempts attempts) {
    return make(in, unchained(in, attempts));
  }

  @Override
  public List<Alternative> ways(FusionInput in, @Nullable Supplier<GemmKernels> gemms) {
    return List.of(new Alternative(name(), () -> make(in, ANOTHER_WAY).made()));
  }

  private static Attempt make(FusionInput in, String unchained) {
    long widest =
        in.fused().products().stream().mapToLong(p -> Math.max(p.n(), p.k())).max().orElse(1);
    String refusal = "";
    for (GpuTiling tiling : GpuTiling.candidates(in.instruction(), widest)) {
      long registers = tiling.registers(in.fused());
      if (registers > FRAGMENT_REGISTERS) {
        refusal =
            String.format(
                Locale.ROOT,
                "%d rows of the accumulators that are needed at once take %d registers of each"
                    + " thread, more than %d",
                tiling.rows(),
                registers,
                FRAGMENT_REGISTERS);
        continue;
      }
      Attempt attempt = make(in, tiling, unchained, CompiledKernel.SHARED_CHAINING);
      if (attempt.program() != null) {
        return attempt;
      }
      refusal = attempt.why();
    }
    return Attempt.refused(refusal);
  }
}
