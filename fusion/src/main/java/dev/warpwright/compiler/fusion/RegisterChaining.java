package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.KernelCall;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.launch.LateWait;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.lower.tile.PassRefusal;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.networks.stages.StrategyTimes;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.target.Calibration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
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
 * <p>Only weights pass through shared memory, and results whose rows fill no vectors. What sizes
 * are expected to take is told by what they make of a network ({@link
 * dev.warpwright.networks.registers.ChainTimes}). In f32 activations pass through shared memory,
 * but through that of their warp alone ({@link ChainByFma}).
 *
 * @param <T> sizes of its schedule
 */
abstract sealed class RegisterChaining<T> implements FusionRule
    permits ChainInWarpgroups, ChainInWarps, ChainByFma {
  /** A kernel takes a second to compile. */
  private static final int MOST_TRIED = 6;

  /**
   * Spilled bytes of a thread that make a kernel take twice as long, roughly: of 55 that spill 8 to
   * 824 bytes, by the fit of {@link dev.warpwright.networks.registers.ChainTimes}.
   */
  private static final double DOUBLING = 6760;

  /** How much more sizes may be expected to take that are as good as the best of them. */
  private static final double ALIKE = 1.01;

  /**
   * What compiles, and what it is expected to take with what it spills.
   *
   * @param micros with what it spills, and what waits of matrix instructions for each other take
   */
  record Compiled(Attempt attempt, double micros) {}

  /** What is in the way of networks on the target; empty if nothing is known. */
  abstract String refusal(FusionInput in);

  /** Sizes for the planner, the presumably fastest first. */
  abstract List<T> tilings(FusionInput in);

  /** Sizes to measure, the presumably fastest first. */
  abstract List<T> measured(FusionInput in);

  /**
   * Microseconds by sizes on so many SMs, or anything else that tells sizes apart; to be asked for
   * many, by one thread.
   */
  final ToDoubleFunction<T> micros(FusionInput in, int sms) {
    return micros(in, sms, Calibration.of(in.target()));
  }

  /** The same by other numbers of the time model, where sizes are told apart by it. */
  abstract ToDoubleFunction<T> micros(FusionInput in, int sms, Calibration calibration);

  /** For the names of its ways what they are expected to take, by any numbers. */
  final Map<String, ToDoubleFunction<Calibration>> expected(FusionInput in, int sms) {
    Map<String, ToDoubleFunction<Calibration>> expected = new HashMap<>();
    for (T tiling : measured(in)) {
      expected.put(way(tiling), calibration -> micros(in, sms, calibration).applyAsDouble(tiling));
    }
    return expected;
  }

  /**
   * What tells sizes apart of which nothing else is known: warps for which there is no tile of rows
   * start, and find nothing to do.
   */
  static double idle(FusionInput in, int warps, long rows) {
    return 1.0 + warps - Math.min(warps, in.tilesOfAnSm(rows));
  }

  /** Warps, or warpgroups, of a block. */
  abstract int warps(T tiling);

  /** Rows of each at a time. */
  abstract long rows(T tiling);

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
   * Sizes by what they are expected to take. Of those that are alike in that, by warps that find no
   * rows, and then in their order.
   */
  final List<T> fastestFirst(FusionInput in, List<T> sizes) {
    record Expected<S>(S size, double micros, double idle) {}
    ToDoubleFunction<T> micros = micros(in, in.sms());
    // Each once, not for each comparison.
    List<Expected<T>> expected =
        sizes.stream()
            .map(
                size ->
                    new Expected<>(
                        size, micros.applyAsDouble(size), idle(in, warps(size), rows(size))))
            .toList();
    double least = expected.stream().mapToDouble(Expected::micros).min().orElse(0);
    return expected.stream()
        .sorted(
            Comparator.comparingDouble((Expected<T> size) -> weighed(size.micros(), least))
                .thenComparingDouble(Expected::idle))
        .map(Expected::size)
        .toList();
  }

  private static double weighed(double micros, double least) {
    return micros <= ALIKE * least ? least : micros;
  }

  /** Of its sizes the one that is expected to take least with what its kernel spills. */
  @Override
  public final Attempt apply(FusionInput in, FusionAttempts attempts) {
    String refusal = refusal(in);
    Compiled best = null;
    if (refusal.isEmpty()) {
      List<T> tilings = tilings(in);
      best = fastest(in, attempts, tilings, Double.POSITIVE_INFINITY);
      if (best == null && !tilings.isEmpty()) {
        refusal = make(in, tilings.getLast()).why();
      }
    }
    Compiled other = instead(in, attempts, best == null ? Double.POSITIVE_INFINITY : best.micros());
    if (other != null) {
      return other.attempt();
    }
    return best == null
        ? Attempt.refused(refusal.isEmpty() ? tooLarge() : refusal)
        : best.attempt();
  }

  /**
   * What is better where all that were tried spill, or none can be made; null if nothing is.
   *
   * @param micros that the best of them is expected to take
   */
  @Nullable Compiled instead(FusionInput in, FusionAttempts attempts, double micros) {
    return null;
  }

  /**
   * The best of some sizes, of which those are compiled that might be it; null if none takes less
   * than {@code most} microseconds.
   *
   * @param sizes the presumably fastest first
   */
  final @Nullable Compiled fastest(
      FusionInput in, FusionAttempts attempts, List<T> sizes, double most) {
    Compiled best = null;
    ToDoubleFunction<T> micros = micros(in, in.sms());
    double first = sizes.stream().mapToDouble(micros).min().orElse(0);
    double least = most;
    int tried = 0;
    for (T tiling : sizes) {
      double expected = weighed(micros.applyAsDouble(tiling), first);
      if (expected >= least || tried == MOST_TRIED) {
        break;
      }
      Attempt attempt = make(in, tiling);
      if (attempt.program() != null) {
        tried++;
        int spilled = attempts.spills(attempt.program());
        Compiled made = new Compiled(attempt, expected * (1 + spilled / DOUBLING));
        if (made.micros() < least) {
          best = made;
          least = made.micros();
        }
      }
    }
    return best;
  }

  @Override
  public final List<Alternative> ways(FusionInput in, @Nullable Supplier<GemmKernels> gemms) {
    return measured(in).stream()
        .map(tiling -> new Alternative(way(tiling), () -> make(in, tiling).made()))
        .toList();
  }

  private String way(T tiling) {
    return strategy() + " " + text(tiling);
  }

  /**
   * A kernel that copies its weights while the launch before it ends (a programmatic dependent
   * launch), where the target has such launches: 64 × 4 at 256 rows takes 1.58 µs for 2.20 so.
   */
  private Kernel overlapping(FusionInput in, Kernel kernel) {
    if (!in.target().hasHopper()) {
      return kernel;
    }
    Set<String> names =
        KernelCall.constants(
            kernel, stages(in).func().params(), LinkedNetwork.constants(network(in)));
    return LateWait.of(kernel, names).orElse(kernel);
  }

  private Attempt make(FusionInput in, T tiling) {
    try {
      Scheduled scheduled = schedule(in, tiling);
      PackConstants.Packed packed =
          PackConstants.apply(scheduled.tiles(), LinkedNetwork.constants(network(in)));
      Kernel kernel = overlapping(in, Lowering.lower(packed.func(), in.target()));
      String why =
          why(in, tiling)
              + (LaunchOrder.overlaps(kernel) ? "; it begins while the launch before it ends" : "");
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
          why,
          way(tiling));
    } catch (LoweringException | PassRefusal | ScheduleError e) {
      return Attempt.refused(String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
  }
}
