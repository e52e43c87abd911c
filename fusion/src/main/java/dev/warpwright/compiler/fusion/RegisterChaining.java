package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.lower.tile.PassRefusal;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.networks.stages.StrategyTimes;
import dev.warpwright.schedule.error.ScheduleError;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
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
 * weights or of the tensor cores, and of a row tile alone; of warpgroups also that of weights which
 * flow by ({@link dev.warpwright.networks.registers.ChainTimes}). In f32 activations pass through
 * shared memory, but through that of their warp alone ({@link ChainByFma}).
 *
 * @param <T> sizes of its schedule
 */
abstract sealed class RegisterChaining<T> implements FusionRule
    permits ChainInWarpgroups, ChainInWarps, ChainByFma {
  /** A kernel takes a second to compile. */
  private static final int MOST_TRIED = 4;

  /**
   * Bytes of a thread that cost less than what spills none of them: 131-53-103-55-169-61 takes
   * 238.7 µs where 8 bytes are spilled, 197.6 by twice as many warpgroups that spill 88. Matrix
   * instructions that wait for each other count far more.
   */
  private static final int LITTLE = 128;

  /** What spills: better than nothing. */
  private record Spilling(Attempt attempt, int bytes) {
    static Spilling least(@Nullable Spilling one, Attempt attempt, int bytes) {
      return one == null || bytes < one.bytes ? new Spilling(attempt, bytes) : one;
    }
  }

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

  /** What is computed, by stages. */
  NetworkFunction network(FusionInput in) {
    return in.chain();
  }

  /** All of its stages. */
  StageGroup stages(FusionInput in) {
    return in.chained();
  }

  /** What its kernels say of themselves. */
  String strategy() {
    return CompiledKernel.REGISTER_CHAINING;
  }

  @Override
  public double micros(FusionInput in, StrategyTimes times) {
    return times.registers();
  }

  @Override
  public final Verdict judge(FusionInput in) {
    String refusal = refusal(in);
    if (refusal.isEmpty() && tilings(in).isEmpty()) {
      refusal = tooLarge();
    }
    return refusal.isEmpty()
        ? new Verdict.Fires(in.expected(this))
        : new Verdict.DoesNotFire(refusal);
  }

  /**
   * Of sizes those first that have no more warps than there are tiles: others start, and find
   * nothing to do (128 × 6 at 8192 rows: 7.59 µs by three warpgroups, 7.28 by one).
   *
   * @param idle warps, or warpgroups, without a tile
   */
  static <T> List<T> busyFirst(List<T> sizes, ToLongFunction<T> idle) {
    return sizes.stream()
        .sorted(Comparator.comparingLong(size -> Math.max(0, idle.applyAsLong(size))))
        .toList();
  }

  /**
   * The first of its sizes whose kernel does not spill; if all do, the first that spills little, or
   * the one that spills least.
   */
  @Override
  public final Attempt apply(FusionInput in, FusionAttempts attempts) {
    String refusal = refusal(in);
    Spilling least = null;
    Attempt little = null;
    int tried = 0;
    for (T tiling : refusal.isEmpty() ? tilings(in) : List.<T>of()) {
      Attempt attempt = make(in, tiling);
      if (attempt.program() == null) {
        refusal = attempt.why();
      } else {
        int bytes = attempts.spills(attempt.program());
        if (bytes == 0) {
          return attempt;
        }
        least = Spilling.least(least, attempt, bytes);
        if (little == null && bytes <= LITTLE) {
          little = attempt;
        }
        if (++tried == MOST_TRIED) {
          break;
        }
      }
    }
    if (little != null) {
      return little;
    }
    return least != null
        ? instead(in, attempts, least.bytes()).orElse(least.attempt())
        : Attempt.refused(refusal.isEmpty() ? tooLarge() : refusal);
  }

  /**
   * What is better where all that were tried spill; empty if nothing is.
   *
   * @param bytes that the best of them spills
   */
  Optional<Attempt> instead(FusionInput in, FusionAttempts attempts, int bytes) {
    return Optional.empty();
  }

  /**
   * The first of the sizes to measure whose kernel does not spill, or the one that spills least if
   * that is much less than {@code bytes}.
   */
  final Optional<Attempt> fast(FusionInput in, FusionAttempts attempts, int bytes) {
    Spilling least = null;
    for (T tiling : measured(in)) {
      Attempt attempt = make(in, tiling);
      if (attempt.program() != null) {
        int spilled = attempts.spills(attempt.program());
        if (spilled == 0) {
          return Optional.of(attempt);
        }
        least = Spilling.least(least, attempt, spilled);
      }
    }
    return Optional.ofNullable(least)
        .filter(spilling -> spilling.bytes() < bytes / NetworkCompiler.MUCH_LESS)
        .map(Spilling::attempt);
  }

  @Override
  public final List<Alternative> ways(FusionInput in, @Nullable Supplier<GemmKernels> gemms) {
    return measured(in).stream()
        .map(
            tiling ->
                new Alternative(strategy() + " " + text(tiling), () -> make(in, tiling).made()))
        .toList();
  }

  private Attempt make(FusionInput in, T tiling) {
    try {
      Scheduled scheduled = schedule(in, tiling);
      PackConstants.Packed packed =
          PackConstants.apply(scheduled.tiles(), LinkedNetwork.constants(network(in)));
      Kernel kernel = Lowering.lower(packed.func(), in.target());
      String why = why(in, tiling);
      CompiledKernel compiled =
          LinkedNetwork.kernel(stages(in), scheduled, kernel, strategy(), why);
      return new Attempt(
          LinkedNetwork.of(
              network(in),
              in.precision(),
              in.target(),
              List.of(stages(in)),
              List.of(compiled),
              LinkedNetwork.packed(network(in), packed.packed())),
          why);
    } catch (LoweringException | PassRefusal | ScheduleError e) {
      return Attempt.refused(String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
  }
}
