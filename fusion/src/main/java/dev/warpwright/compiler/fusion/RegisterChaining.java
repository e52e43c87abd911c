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
  /**
   * A kernel takes a second to compile. More than two warpgroups and one, with rows read ahead or
   * not, which are alike: 5-179-137-20-5 takes 119.0 µs by the next, 140.2 by warps.
   */
  private static final int MOST_TRIED = 6;

  /** Spilled bytes of a thread that are no reason to look for another kind of kernel. */
  private static final int LITTLE = 128;

  /** Spilled bytes of a thread that make a kernel take twice as long, roughly. */
  private static final double DOUBLING = 1000;

  /**
   * What spills: better than nothing.
   *
   * @param bytes of a thread, a mebibyte more where matrix instructions wait for each other
   * @param cost of one kernel beside another: of the same network four warpgroups take about half
   *     of the time of one, spilled bytes make that longer (131-53-103-55-169-61 takes 362, 239,
   *     212 and 198 µs by one to four, which spill 0 to 88 bytes; 9-230-243-221-154-159-91-15 takes
   *     186 by one with 424, 97 by two with 752)
   */
  private record Spilling(Attempt attempt, int bytes, double cost) {
    static Spilling of(Attempt attempt, int bytes, long busy) {
      return new Spilling(attempt, bytes, (1 + bytes / DOUBLING) / Math.sqrt(Math.max(1, busy)));
    }

    static Spilling cheaper(@Nullable Spilling one, Spilling other) {
      return one == null || other.cost < one.cost ? other : one;
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

  /** Warps, or warpgroups, of a block. */
  abstract int warps(T tiling);

  /** Rows of each at a time. */
  abstract long rows(T tiling);

  /** Warps, or warpgroups, of a block that have rows. */
  private long busy(FusionInput in, T tiling) {
    return Math.min(warps(tiling), in.tilesOfAnSm(rows(tiling)));
  }

  /**
   * Of sizes those first that have no more warps than there are tiles: others start, and find
   * nothing to do (128 × 6 at 8192 rows: 7.59 µs by three warpgroups, 7.28 by one).
   */
  final List<T> busyFirst(FusionInput in, List<T> sizes) {
    return sizes.stream()
        .sorted(Comparator.comparingLong(size -> warps(size) - busy(in, size)))
        .toList();
  }

  /**
   * The first of its sizes whose kernel does not spill, unless one that was tried before it is
   * expected to take less; if all spill, the one that is expected to take least.
   */
  @Override
  public final Attempt apply(FusionInput in, FusionAttempts attempts) {
    String refusal = refusal(in);
    Spilling best = null;
    boolean clean = false;
    int tried = 0;
    for (T tiling : refusal.isEmpty() ? tilings(in) : List.<T>of()) {
      Attempt attempt = make(in, tiling);
      if (attempt.program() == null) {
        refusal = attempt.why();
      } else {
        int bytes = attempts.spills(attempt.program());
        best = Spilling.cheaper(best, Spilling.of(attempt, bytes, busy(in, tiling)));
        clean = bytes == 0;
        if (clean || ++tried == MOST_TRIED) {
          break;
        }
      }
    }
    if (best == null) {
      return Attempt.refused(refusal.isEmpty() ? tooLarge() : refusal);
    }
    return clean || best.bytes() <= LITTLE
        ? best.attempt()
        : instead(in, attempts, best.bytes()).orElse(best.attempt());
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
        least = Spilling.cheaper(least, Spilling.of(attempt, spilled, 1));
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
