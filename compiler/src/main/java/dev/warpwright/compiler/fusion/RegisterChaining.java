package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.lower.tile.PassRefusal;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.stages.StrategyTimes;
import dev.warpwright.schedule.error.ScheduleError;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One kernel whose rows go through all layers in registers.
 *
 * <pre>
 * before  load x; h1 = x W1; a1 = act(h1); h2 = a1 W2; … store y      a stage each
 * after   one persistent kernel: for each tile of rows { x → registers; the accumulators of a layer,
 *         packed, are the next one's first operand; y ← registers }; weights in shared memory
 * </pre>
 *
 * <p>Only weights pass through shared memory, so the prediction is the time of inputs, outputs and
 * weights or of the tensor cores, and of a row tile alone.
 *
 * @param <T> sizes of its schedule
 */
abstract sealed class RegisterChaining<T> implements FusionRule
    permits ChainInWarpgroups, ChainInWarps {
  /** A kernel takes a second to compile. */
  private static final int MOST_TRIED = 4;

  /** What is in the way of networks on the target; empty if nothing is known. */
  abstract String refusal(FusionInput in);

  /** Sizes for the planner, the presumably fastest first. */
  abstract List<T> tilings(FusionInput in);

  /** Sizes to measure, the presumably fastest first. */
  abstract List<T> measured(FusionInput in);

  abstract String text(T tiling);

  /** One sentence on who holds what. */
  abstract String why(FusionInput in, T tiling);

  abstract Scheduled schedule(FusionInput in, T tiling);

  /** What is in the way where nothing else is known and no sizes fit. */
  abstract String tooLarge();

  @Override
  public final Verdict judge(FusionInput in) {
    String refusal = refusal(in);
    if (refusal.isEmpty() && tilings(in).isEmpty()) {
      refusal = tooLarge();
    }
    return refusal.isEmpty()
        ? new Verdict.Fires(in.times().map(StrategyTimes::registers).orElse(Double.NaN))
        : new Verdict.DoesNotFire(refusal);
  }

  /** The first of its sizes whose kernel is fast; if none is, the first is better than none. */
  @Override
  public final Attempt apply(FusionInput in, FusionAttempts attempts) {
    String refusal = refusal(in);
    Attempt first = null;
    int tried = 0;
    for (T tiling : refusal.isEmpty() ? tilings(in) : List.<T>of()) {
      Attempt attempt = make(in, tiling);
      if (attempt.program() == null) {
        refusal = attempt.why();
      } else if (attempts.fast().test(attempt.program().kernels().getFirst().kernel())) {
        return attempt;
      } else {
        first = first == null ? attempt : first;
        if (++tried == MOST_TRIED) {
          break;
        }
      }
    }
    return first != null ? first : Attempt.refused(refusal.isEmpty() ? tooLarge() : refusal);
  }

  @Override
  public final List<Alternative> ways(FusionInput in, @Nullable Supplier<GemmKernels> gemms) {
    return measured(in).stream()
        .map(
            tiling ->
                new Alternative(
                    CompiledKernel.REGISTER_CHAINING + " " + text(tiling),
                    () -> make(in, tiling).made()))
        .toList();
  }

  private Attempt make(FusionInput in, T tiling) {
    try {
      Scheduled scheduled = schedule(in, tiling);
      PackConstants.Packed packed =
          PackConstants.apply(scheduled.tiles(), LinkedNetwork.constants(in.chain()));
      Kernel kernel = Lowering.lower(packed.func(), in.target());
      String why = why(in, tiling);
      CompiledKernel compiled =
          LinkedNetwork.kernel(
              in.chained(), scheduled, kernel, CompiledKernel.REGISTER_CHAINING, why);
      return new Attempt(
          LinkedNetwork.of(
              in.chain(),
              in.precision(),
              in.target(),
              List.of(in.chained()),
              List.of(compiled),
              LinkedNetwork.packed(in.chain(), packed.packed())),
          why);
    } catch (LoweringException | PassRefusal | ScheduleError e) {
      return Attempt.refused(String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
  }
}
