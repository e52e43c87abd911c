package dev.warpwright.compiler.fusion;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.networks.stages.StrategyTimes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rules, and which is taken: of those that fit the one that is expected to take the least, or
 * the next where it turns out that its kernels cannot be made.
 */
final class FusionPlanner {
  private static final FusionRule WARPGROUPS = new ChainInWarpgroups();
  private static final FusionRule WARPS = new ChainInWarps();
  private static final FusionRule FMA = new ChainByFma();
  private static final FusionRule TILES = new TilesInRegisters();
  private static final FusionRule SHARED = new ThroughShared();
  private static final FusionRule GEMMS = new GemmPerLayer();
  private static final FusionRule SIMPLE = new SimpleLayers();

  /** Of two that are expected to take the same, the first is taken. */
  static final List<FusionRule> RULES =
      List.of(WARPGROUPS, WARPS, FMA, TILES, SHARED, GEMMS, SIMPLE);

  static final List<FusionRule> ONE_KERNEL = List.of(WARPGROUPS, WARPS, FMA, TILES, SHARED);

  /**
   * Ways as one kernel that stand before those by layers, where these are expected to be slower.
   */
  private static final int BESIDE = 4;

  private FusionPlanner() {}

  /** The rule that keeps activations in registers on a target. */
  static FusionRule chaining(FusionInput in) {
    return in.target().hasHopper() ? WARPGROUPS : WARPS;
  }

  /**
   * What the better of those that keep activations in registers is expected to take; 0 for none.
   */
  static double inRegisters(FusionInput in, StrategyTimes times) {
    return Stream.of(WARPGROUPS, WARPS)
        .filter(rule -> rule.judge(in) instanceof Verdict.Fires)
        .mapToDouble(rule -> rule.micros(in, times))
        .min()
        .orElse(0);
  }

  /** What is expected of one kernel and of layers; empty if nothing is known of the device. */
  static Optional<FusionTimes> expected(FusionInput in) {
    OptionalDouble oneKernel =
        ONE_KERNEL.stream()
            .map(rule -> judge(rule, in))
            .filter(Verdict.Fires.class::isInstance)
            .mapToDouble(verdict -> ((Verdict.Fires) verdict).micros())
            .min();
    Optional<StrategyTimes> times = in.times();
    return times.isEmpty() || oneKernel.isEmpty()
        ? Optional.empty()
        : Optional.of(new FusionTimes(oneKernel.getAsDouble(), times.get().layers(in.launches())));
  }

  /** What a rule says of a network; attention goes by layers, whatever else there is. */
  static Verdict judge(FusionRule rule, FusionInput in) {
    return in.attends() && rule != GEMMS
        ? new Verdict.DoesNotFire("attention is a kernel of its own")
        : rule.judge(in);
  }

  /** The rules that fit, the one that is expected to take the least first. */
  static List<FusionRule> firing(FusionInput in) {
    record Firing(FusionRule rule, double weighed) {}
    List<Firing> firing = new ArrayList<>();
    List<FusionRule> last = new ArrayList<>();
    for (FusionRule rule : RULES) {
      switch (judge(rule, in)) {
        case Verdict.Fires fires -> firing.add(new Firing(rule, fires.weighed()));
        case Verdict.LastResort _ -> last.add(rule);
        case Verdict.DoesNotFire _ -> {}
      }
    }
    firing.sort(Comparator.comparingDouble(Firing::weighed));
    List<FusionRule> rules = new ArrayList<>(firing.stream().map(Firing::rule).toList());
    rules.addAll(last);
    return rules;
  }

  /** Whether a network is expected to be fastest with a GEMM for each layer. */
  static boolean isByLayer(FusionInput in) {
    List<FusionRule> firing = firing(in);
    return !firing.isEmpty() && firing.getFirst() == GEMMS;
  }

  /** Applies the rules, the presumably fastest first, until one can be. */
  static NetworkCompiler.Chosen plan(FusionInput in, FusionAttempts attempts) {
    for (FusionRule rule : firing(in)) {
      Attempt attempt = rule.apply(in, attempts);
      CompiledProgram made = attempt.program();
      if (made != null) {
        CompiledProgram program = rule instanceof SharedChaining ? orSimple(in, made) : made;
        return new NetworkCompiler.Chosen(program == made ? attempt.name() : "", program);
      }
      if (rule != GEMMS) {
        attempts.refused(rule, attempt.why());
      }
    }
    if (in.attends()) {
      throw new UserError(
          "attention within networks in "
              + in.precision().text()
              + " has no kernel for GPUs; use f16 or bf16, or the CPU");
    }
    throw new IllegalStateException("no rule fits " + in.network().func().name());
  }

  /**
   * One kernel through shared memory, or simple kernels: where a GEMM for each layer would be
   * faster, but there is none, the two are predicted as they were made.
   */
  private static CompiledProgram orSimple(FusionInput in, CompiledProgram one) {
    if (!expected(in).map(FusionTimes::areLayersFaster).orElse(false)) {
      return one;
    }
    double micros = PredictedTime.micros(one.kernels(), in.network().rows().var(), in.rows());
    String why =
        String.format(
            Locale.ROOT,
            "one kernel would have too few blocks at work (predicted %.0f us)",
            micros);
    CompiledProgram simple = SimpleLayers.apply(in, why).made().orElseThrow();
    return PredictedTime.micros(simple.kernels(), in.network().rows().var(), in.rows()) < micros
        ? simple
        : one;
  }

  /**
   * The ways to compute a network, the presumably fastest first.
   *
   * @param gemms makes the families' kernels; null for ways of one kernel alone
   */
  static List<Alternative> ways(FusionInput in, @Nullable Supplier<GemmKernels> gemms) {
    List<Alternative> ways = new ArrayList<>();
    if (in.attends()) {
      return GEMMS.judge(in) instanceof Verdict.Fires ? GEMMS.ways(in, gemms) : ways;
    }
    ONE_KERNEL.forEach(rule -> ways.addAll(rule.ways(in, null)));
    ways.addAll(TilesInRegisters.idle(in));
    if (gemms != null && GEMMS.judge(in) instanceof Verdict.Fires) {
      Optional<FusionTimes> expected = expected(in);
      if (expected.map(FusionTimes::mightLayersBeFaster).orElse(false)) {
        boolean first = expected.map(FusionTimes::areLayersFaster).orElse(false);
        ways.addAll(first ? 0 : Math.min(BESIDE, ways.size() - 1), GEMMS.ways(in, gemms));
      }
    }
    return ways;
  }
}
