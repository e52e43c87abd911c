package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.OverlappedCalls;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.networks.layers.FixedRows;
import dev.warpwright.networks.stages.StrategyTimes;
import dev.warpwright.space.Point;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A GEMM of the families for each layer, tuned or chosen by their own model.
 *
 * <pre>
 * before  load x; h1 = x W1; a1 = act(h1 + b1); h2 = a1 W2; … store y
 * after   a1 = GEMM with epilogue(x, W1, b1); y = GEMM(a1, W2); …     a launch each
 *         gate = x W1; up = x W3; h = act(gate) * up                  one GEMM, half as wide a result
 * </pre>
 *
 * <p>Each activation goes to memory and back, at the full rate of the GEMMs. Its kernels are for
 * one row count, so it must be expected to be faster by {@link FusionTimes#WORTH}.
 */
final class GemmPerLayer implements FusionRule {
  /** Microseconds of a launch. */
  private static final double SHORT_US = 10;

  /** Rows up to which products do not hide the wait for a launch's first weights. */
  private static final int FILLING_ROWS = 256;

  /** Its way to be measured. */
  static final String NAME = "GEMM per layer";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Verdict judge(FusionInput in) {
    if (in.gemms().isEmpty() && !in.attends()) {
      return new Verdict.DoesNotFire(
          in.precision() == Precision.TF32
              ? "GEMMs of the families cut operands off to tf32, which several layers do not bear"
              : "the families compute none of its GEMMs");
    }
    if (in.attends() && in.precision().operand().bytes() != 2) {
      return new Verdict.DoesNotFire("attention has kernels in f16 and bf16 only");
    }
    double micros = in.expected(this);
    return new Verdict.Fires(micros, micros / FusionTimes.WORTH);
  }

  @Override
  public double micros(FusionInput in, StrategyTimes times) {
    return times.layers(in.launches());
  }

  @Override
  public Attempt apply(FusionInput in, FusionAttempts attempts) {
    GemmKernels gemms = attempts.gemms();
    if (gemms == null) {
      return Attempt.refused("there are no kernels of the families");
    }
    String why = attempts.lastRefusal();
    if (why == null) {
      String results = SharedChaining.tooManyResults(in);
      why = results.isEmpty() ? expected(in) : results;
    }
    PerLayerWay way = ways(in).getFirst();
    return WideNetwork.plan(in, gemms, why, way)
        .map(program -> new Attempt(program, "", way.name()))
        .orElseGet(() -> Attempt.refused("the families have no kernel for its GEMMs"));
  }

  /**
   * Whether launches are so short that what lies between them counts; of few rows they overlap
   * whatever they take. On an H200 six GEMMs of 1024 × 256 × 256 take 11.5 µs where they overlap
   * and 13.6 else, four of 8192 × 160 × 160 14.6 and 15.8.
   */
  private static boolean isShort(FusionInput in) {
    List<GemmWorkload> gemms = in.gemms();
    return !in.attends()
        && in.rows() > OverlappedCalls.FEW_ROWS
        && gemms.size() > 1
        && in.expected(new GemmPerLayer()) < SHORT_US * gemms.size();
  }

  /**
   * Whether GEMMs that are no longer short still wait for weights where they begin. On an H200 a
   * feed-forward block of 4096 and 14336 features takes 67.4 µs for 68.2 of 128 rows, 95.0 for 96.6
   * of 256, 170.6 for 169.0 of 512.
   */
  private static boolean fills(FusionInput in) {
    return !in.attends() && in.rows() <= FILLING_ROWS && in.gemms().size() > 1;
  }

  private static String expected(FusionInput in) {
    if (in.attends()) {
      return "attention is a kernel of its own, and reads what others wrote to memory";
    }
    String text = FusionPlanner.expected(in).map(FusionTimes::text).orElse("");
    return FusionPlanner.chaining(in).judge(in) instanceof Verdict.DoesNotFire(String unchained)
        ? text + ", not in registers, for " + unchained
        : text;
  }

  @Override
  public List<Alternative> ways(FusionInput in, @Nullable Supplier<GemmKernels> gemms) {
    if (gemms == null) {
      return List.of();
    }
    String why =
        FusionPlanner.expected(in).map(FusionTimes::text).orElse(SharedChaining.ANOTHER_WAY);
    return ways(in).stream().map(way -> alternative(in, gemms, why, way)).toList();
  }

  /**
   * The kernels to choose from for each different call of the families: of GEMMs what was measured
   * to be fastest alone, of attention what is expected to be.
   *
   * @param most for a call
   * @param slower than the fastest, at most
   * @return for the name of each, the one with most to read first, what stands for its kernels, the
   *     fastest first
   */
  static Map<String, List<String>> choices(
      FusionInput in, GemmKernels kernels, int most, double slower) {
    Map<String, List<String>> choices = new LinkedHashMap<>();
    List<GemmWorkload> gemms = in.gemms().stream().distinct().toList();
    List<GemmWorkload> largest =
        gemms.stream().sorted(Comparator.comparingLong(gemm -> -gemm.n() * gemm.k())).toList();
    for (GemmWorkload gemm : largest) {
      choices.put(
          PerLayerWay.gemm(gemms.indexOf(gemm)),
          kernels.choices(gemm, most, slower).stream().map(Point::digest).toList());
    }
    NetworkFunction network = FixedRows.of(in.network(), in.rows());
    List<Attention> attentions =
        network.attentions().stream()
            .map(each -> AttentionCalls.workload(network.func().name(), each, in.rows()))
            .distinct()
            .toList();
    for (int i = 0; i < attentions.size(); i++) {
      choices.put(
          PerLayerWay.attention(i),
          AttentionCalls.choices(attentions.get(i), in.target(), most, slower).stream()
              .map(AttentionCalls::digest)
              .toList());
    }
    return choices;
  }

  /** One of its ways, or one with kernels of its own. */
  static Alternative alternative(
      FusionInput in, Supplier<GemmKernels> gemms, String why, PerLayerWay way) {
    return new Alternative(
        way.name(),
        () -> {
          try (GemmKernels kernels = gemms.get()) {
            return WideNetwork.plan(in, kernels, why, way);
          }
        });
  }

  /** The one that {@link #apply} takes first. */
  private static List<PerLayerWay> ways(FusionInput in) {
    if (!in.target().hasHopper()) {
      return List.of(PerLayerWay.PLAIN);
    }
    PerLayerWay overlapping = PerLayerWay.OVERLAPPING;
    PerLayerWay filling = PerLayerWay.FILLING;
    if (in.rows() <= OverlappedCalls.FEW_ROWS) {
      List<PerLayerWay> ways = new ArrayList<>(List.of(overlapping, PerLayerWay.PLAIN));
      boolean norms = !in.network().norms().isEmpty();
      if (norms) {
        ways.add(1, PerLayerWay.NORMED);
      }
      if (in.attends() && !in.network().updates().isEmpty()) {
        ways.add(overlapping.withQueries());
        if (norms) {
          ways.add(PerLayerWay.NORMED.withQueries());
        }
      }
      return ways;
    }
    if (isShort(in)) {
      return List.of(overlapping, PerLayerWay.PLAIN, filling);
    }
    return fills(in)
        ? List.of(filling, PerLayerWay.PLAIN, overlapping)
        : List.of(PerLayerWay.PLAIN, overlapping, filling);
  }
}
