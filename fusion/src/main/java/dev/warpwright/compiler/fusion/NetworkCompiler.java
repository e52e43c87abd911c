package dev.warpwright.compiler.fusion;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.networks.stages.StrategyTimes;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.HostTarget;
import dev.warpwright.target.Target;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** From a graph to a program for a target. */
public final class NetworkCompiler {
  /** The way of a network with a GEMM of the families for each of its layers. */
  public static final String GEMM_PER_LAYER = GemmPerLayer.NAME;

  private static final String MEASURED = "it was measured to be the fastest";
  private static final Pattern MERGED =
      Pattern.compile(FusedBlock.NAME + " order=([a-z]+) wait=([a-z0-9:]+)");

  private NetworkCompiler() {}

  /**
   * Compiles.
   *
   * @param rows the row count to be fast for; the program is right for every one
   * @throws UserError if the network does not fit the target
   */
  public static CompiledProgram compile(Graph graph, Target target, Precision precision, int rows) {
    return compile(graph, target, precision, rows, null);
  }

  /**
   * As {@link #compile(Graph, Target, Precision, int)}.
   *
   * @param products kernels for the products of networks that are too wide for one kernel; with
   *     them the program may be for just this row count, which it then says. Null for none
   */
  public static CompiledProgram compile(
      Graph graph, Target target, Precision precision, int rows, @Nullable GemmKernels products) {
    return compile(graph, target, precision, rows, products, null);
  }

  /**
   * As {@link #compile(Graph, Target, Precision, int, GemmKernels)}.
   *
   * @param preferred name of the {@linkplain #alternatives alternative} that was fastest when it
   *     was measured; null, or one that there is not any more, for the presumably fastest
   */
  public static CompiledProgram compile(
      Graph graph,
      Target target,
      Precision precision,
      int rows,
      @Nullable GemmKernels products,
      @Nullable String preferred) {
    return compile(graph, target, precision, rows, products, preferred, kernel -> 0);
  }

  /**
   * As {@link #compile(Graph, Target, Precision, int, GemmKernels, String)}.
   *
   * @param spills what a kernel spills, in bytes; 0 if it compiles to what it is meant to be. Of
   *     the ways to carry a network through registers the first of which that is so is taken
   */
  public static CompiledProgram compile(
      Graph graph,
      Target target,
      Precision precision,
      int rows,
      @Nullable GemmKernels products,
      @Nullable String preferred,
      ToIntFunction<Kernel> spills) {
    return switch (target) {
      case GpuTarget gpu -> {
        FusionInput in = FusionInput.of(graph, gpu, precision, rows);
        yield Optional.ofNullable(preferred)
            .flatMap(way -> measured(in, products, way))
            .orElseGet(
                () -> FusionPlanner.plan(in, new FusionAttempts(products, spills)).program());
      }
      case HostTarget host -> HostNetwork.compile(graph, host, precision, rows);
    };
  }

  /**
   * What {@link #compile} takes where nothing was measured.
   *
   * @param name of the {@linkplain #alternatives alternative} that it is; empty if it is none
   */
  public record Chosen(String name, CompiledProgram program) {}

  /** As {@link #compile(Graph, Target, Precision, int, GemmKernels, String, ToIntFunction)}. */
  public static Chosen choose(
      Graph graph,
      GpuTarget target,
      Precision precision,
      int rows,
      @Nullable GemmKernels products,
      ToIntFunction<Kernel> spills) {
    FusionInput in = FusionInput.of(graph, target, precision, rows);
    return FusionPlanner.plan(in, new FusionAttempts(products, spills));
  }

  private static Optional<CompiledProgram> measured(
      FusionInput in, @Nullable GemmKernels products, String way) {
    Optional<PerLayerWay> layers = PerLayerWay.of(way);
    if (layers.isPresent()) {
      return products == null
          ? Optional.empty()
          : WideNetwork.plan(in, products, MEASURED, layers.get());
    }
    Matcher merged = MERGED.matcher(way);
    if (merged.matches()) {
      try {
        return Optional.of(
            FusedBlock.of(
                in, WorkOrder.parse(merged.group(1)), WaitPolicy.parse(merged.group(2)), in.sms()));
      } catch (UserError e) {
        return Optional.empty();
      }
    }
    return FusionPlanner.ways(in, null).stream()
        .filter(alternative -> alternative.name().equals(way))
        .findFirst()
        .flatMap(alternative -> alternative.compile().get());
  }

  /** Whether a way has GEMMs of whole layers, and so is for one row count. */
  public static boolean isForOneRowCount(String way) {
    return PerLayerWay.of(way).isPresent() || MERGED.matcher(way).matches();
  }

  /**
   * Whether a network is expected to be faster with a GEMM for each layer than as one kernel, so
   * that its kernels are for one row count.
   *
   * @param rows the row count
   */
  public static boolean isByLayer(Graph graph, GpuTarget target, Precision precision, int rows) {
    return FusionPlanner.isByLayer(FusionInput.of(graph, target, precision, rows));
  }

  /** What a network is expected to take as one kernel and by layers. */
  public static Optional<FusionTimes> expected(
      Graph graph, GpuTarget target, Precision precision, int rows) {
    return FusionPlanner.expected(FusionInput.of(graph, target, precision, rows));
  }

  /**
   * What each rule of the planner says of a network, before any kernel is made.
   *
   * @return by the names of the rules, in order
   */
  public static Map<String, Verdict> judged(
      Graph graph, GpuTarget target, Precision precision, int rows) {
    FusionInput in = FusionInput.of(graph, target, precision, rows);
    Map<String, Verdict> judged = new LinkedHashMap<>();
    for (FusionRule rule : FusionPlanner.RULES) {
      judged.put(rule.name(), FusionPlanner.judge(rule, in));
    }
    return judged;
  }

  /**
   * What the planner's rules expect of the ways to make a network one kernel, on a device.
   *
   * @return microseconds for the names of {@link #alternatives}; of others nothing is known
   */
  public static Map<String, Double> expected(
      Graph graph, DeviceModel device, Precision precision, int rows) {
    Map<String, Double> expected = new HashMap<>();
    if (precision.supportedBy(device)) {
      FusionInput in = FusionInput.of(graph, (GpuTarget) device.target(), precision, rows);
      StrategyTimes times = new StrategyTimes(in.network(), precision, device, rows);
      for (FusionRule rule : FusionPlanner.ONE_KERNEL) {
        rule.ways(in, null).forEach(way -> expected.put(way.name(), rule.micros(in, times)));
      }
    }
    return expected;
  }

  /**
   * What ways that chain registers by tensor cores are expected to take, by any numbers of the time
   * model ({@code chains} of calibrations): what these are fitted by.
   *
   * @param rows the row count
   * @return microseconds for the names of {@link #alternatives}; none where the device has no such
   *     instructions
   */
  public static Map<String, ToDoubleFunction<Calibration>> fitted(
      Graph graph, DeviceModel device, Precision precision, int rows) {
    if (!precision.supportedBy(device) || !((GpuTarget) device.target()).hasHopper()) {
      return Map.of();
    }
    FusionInput in = FusionInput.of(graph, (GpuTarget) device.target(), precision, rows);
    Map<String, ToDoubleFunction<Calibration>> expected = new HashMap<>();
    expected.putAll(new ChainInWarpgroups().expected(in, device.sms()));
    expected.putAll(new ChainInWarps().expected(in, device.sms()));
    return expected;
  }

  /**
   * The products of a network as the families compute them, in order; what they do not compute is
   * left out.
   *
   * @param rows the row count
   */
  public static List<GemmWorkload> products(Graph graph, Precision precision, int rows) {
    return FusionInput.gemms(graph, precision, rows);
  }

  /**
   * A feed-forward block of two GEMMs with a GELU between them as one persistent kernel.
   *
   * @param rows the row count, of just which the program is
   * @param order in which its blocks take tiles of both GEMMs
   * @param waits for which part of the first one a tile of the second one waits
   * @param sms of the device, a block each
   * @throws UserError if it is no such block
   */
  public static CompiledProgram merged(
      Graph graph,
      GpuTarget target,
      Precision precision,
      int rows,
      WorkOrder order,
      WaitPolicy waits,
      int sms) {
    return FusedBlock.of(FusionInput.of(graph, target, precision, rows), order, waits, sms);
  }

  /** The name of such a way, by which {@link #compile} finds what was measured. */
  public static String mergedName(WorkOrder order, WaitPolicy waits) {
    return FusedBlock.name(order, waits);
  }

  /**
   * The ways to compute a network with so many rows, the presumably fastest first: those to make it
   * {@linkplain #alternatives(Graph, GpuTarget, Precision) one kernel}, and a GEMM for each layer
   * where that might be as fast.
   *
   * @param products makes the families' kernels, which are closed again; called when the way is
   */
  public static List<Alternative> alternatives(
      Graph graph,
      GpuTarget target,
      Precision precision,
      int rows,
      Supplier<GemmKernels> products) {
    return FusionPlanner.ways(FusionInput.of(graph, target, precision, rows), products);
  }

  /**
   * A way with a GEMM for each layer, which need not be one of the {@linkplain #alternatives
   * alternatives}: those name no kernels.
   *
   * @param products makes the families' kernels, which are closed again; called when the way is
   */
  public static Alternative alternative(
      Graph graph,
      GpuTarget target,
      Precision precision,
      int rows,
      Supplier<GemmKernels> products,
      PerLayerWay way) {
    FusionInput in = FusionInput.of(graph, target, precision, rows);
    return GemmPerLayer.alternative(in, products, MEASURED, way);
  }

  /**
   * The kernels to choose from for each call of a way with a GEMM for each layer, which its {@link
   * PerLayerWay#with name} may say: of GEMMs what was measured to be fastest alone, one of each
   * kind, of attention what is expected to be.
   *
   * @param most for a call
   * @param slower than the fastest, at most, as 1.2
   * @return for the name of each call what stands for them, the fastest first
   */
  public static Map<String, List<String>> choices(
      Graph graph,
      GpuTarget target,
      Precision precision,
      int rows,
      GemmKernels products,
      int most,
      double slower) {
    return GemmPerLayer.choices(
        FusionInput.of(graph, target, precision, rows), products, most, slower);
  }

  /**
   * The ways to make a network one kernel, the presumably fastest first; {@link #compile} takes the
   * first that compiles.
   */
  public static List<Alternative> alternatives(Graph graph, GpuTarget target, Precision precision) {
    return alternatives(graph, target, precision, Integer.MAX_VALUE);
  }

  /**
   * As {@link #alternatives(Graph, GpuTarget, Precision)}.
   *
   * @param rows to be fast for: ways that leave SMs without rows come last
   */
  public static List<Alternative> alternatives(
      Graph graph, GpuTarget target, Precision precision, int rows) {
    return FusionPlanner.ways(FusionInput.of(graph, target, precision, rows), null);
  }
}
