package dev.warpwright.compiler.program;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.stages.FusionTimes;
import dev.warpwright.compiler.stages.Partition;
import dev.warpwright.compiler.stages.StageGroup;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.lower.host.HostLowering;
import dev.warpwright.lower.host.HostProgram;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.function.FunctionOptions;
import dev.warpwright.model.function.NetworkBuilder;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.HostTarget;
import dev.warpwright.target.Target;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** From a graph to a program for a target. */
public final class NetworkCompiler {
  /** Columns are padded to whole matrix instructions, or to whole vectors of the CPU. */
  private static final int GRANULE = 16;

  /** Every result has loops of its own that one kernel would share: time grows as their square. */
  private static final int MOST_RESULTS = 128;

  private static final int MOST_RESULTS_ON_HOST = 256;

  /**
   * Ways as one kernel that stand before the way by layers, where that is expected to be slower.
   */
  private static final int BESIDE = 4;

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
    return compile(graph, target, precision, rows, products, preferred, kernel -> true);
  }

  /**
   * As {@link #compile(Graph, Target, Precision, int, GemmKernels, String)}.
   *
   * @param fast whether a kernel compiles to what it is meant to be: without spills, say. Of the
   *     ways to carry a network through registers the first that does is taken
   */
  public static CompiledProgram compile(
      Graph graph,
      Target target,
      Precision precision,
      int rows,
      @Nullable GemmKernels products,
      @Nullable String preferred,
      Predicate<Kernel> fast) {
    return switch (target) {
      case GpuTarget gpu -> {
        Optional<CompiledProgram> measured =
            preferred == null
                ? Optional.empty()
                : named(graph, gpu, precision, rows, products, preferred);
        yield measured.isPresent()
            ? measured.get()
            : forGpu(graph, gpu, precision, rows, products, fast);
      }
      case HostTarget host -> forHost(graph, host, precision, rows);
    };
  }

  private static Optional<CompiledProgram> named(
      Graph graph,
      GpuTarget target,
      Precision precision,
      int rows,
      @Nullable GemmKernels products,
      String name) {
    if (isPerLayer(name)) {
      return products == null
          ? Optional.empty()
          : perLayer(
              graph, target, precision, rows, products, "it was measured to be the fastest", name);
    }
    return alternatives(graph, target, precision, rows).stream()
        .filter(alternative -> alternative.name().equals(name))
        .findFirst()
        .flatMap(alternative -> alternative.compile().get());
  }

  /** How a network is computed with a GEMM of the families for each of its layers. */
  public static final String GEMM_PER_LAYER = "GEMM per layer";

  /** The same with launches that overlap, however many rows they have. */
  private static final String OVERLAPPING_LAYERS = GEMM_PER_LAYER + " overlap=1";

  /** Whether a way has a GEMM for each layer, and so is for one row count. */
  public static boolean isPerLayer(String name) {
    return name.equals(GEMM_PER_LAYER) || name.equals(OVERLAPPING_LAYERS);
  }

  /**
   * Whether a network is expected to be faster with a GEMM for each layer than as one kernel, so
   * that its kernels are for one row count.
   *
   * @param rows the row count
   */
  public static boolean isByLayer(Graph graph, GpuTarget target, Precision precision, int rows) {
    return expected(graph, target, precision, rows).map(FusionTimes::areLayersFaster).orElse(false)
        && !products(graph, precision, rows).isEmpty();
  }

  /** What a network is expected to take as one kernel and by layers. */
  public static Optional<FusionTimes> expected(
      Graph graph, GpuTarget target, Precision precision, int rows) {
    NetworkFunction network = plain(graph, precision);
    return FusionTimes.of(
        network,
        StageGroup.split(network, Partition.byLayer(network)),
        precision,
        target,
        rows,
        new GpuKernels(target, precision)
            .way(Chain.of(graph, precision).group(), fusedGroup(network), rows));
  }

  private static StageGroup fusedGroup(NetworkFunction network) {
    return StageGroup.split(network, Partition.fused(network)).getFirst();
  }

  private static NetworkFunction plain(Graph graph, Precision precision) {
    return NetworkBuilder.build(
        graph, new FunctionOptions(precision, GRANULE, precision == Precision.F32, false));
  }

  /**
   * The products of a network as the families compute them, in order; what they do not compute is
   * left out.
   *
   * @param rows the row count
   */
  public static List<GemmWorkload> products(Graph graph, Precision precision, int rows) {
    NetworkFunction network = FixedRows.of(plain(graph, precision), rows);
    List<GemmWorkload> products = new ArrayList<>();
    for (LayerParts.Part part : LayerParts.of(network, precision, workload -> true)) {
      if (part.product() != null) {
        products.add(part.product().workload());
      }
    }
    return products;
  }

  /**
   * A feed-forward block of two GEMMs with a GELU between them as one persistent kernel.
   *
   * @param rows the row count, of just which the program is
   * @param order in which its blocks take tiles of both GEMMs
   * @param waits for which part of the first one a tile of the second one waits
   * @param multiprocessors of the device, a block each
   * @throws UserError if it is no such block
   */
  public static CompiledProgram merged(
      Graph graph,
      GpuTarget target,
      Precision precision,
      int rows,
      WorkOrder order,
      WaitPolicy waits,
      int multiprocessors) {
    NetworkFunction network =
        FixedRows.of(
            NetworkBuilder.build(graph, new FunctionOptions(precision, GRANULE, false, false)),
            rows);
    return MergedBlock.of(network, rows, target, precision, order, waits, multiprocessors);
  }

  private static CompiledProgram forGpu(
      Graph graph,
      GpuTarget target,
      Precision precision,
      int rows,
      @Nullable GemmKernels products,
      Predicate<Kernel> fast) {
    NetworkFunction network = plain(graph, precision);
    GpuKernels kernels = new GpuKernels(target, precision);
    Chain chain = Chain.of(graph, precision);
    List<StageGroup> layers = StageGroup.split(network, Partition.byLayer(network));
    Optional<FusionTimes> expected =
        FusionTimes.of(
            network,
            layers,
            precision,
            target,
            rows,
            kernels.way(chain.group(), fusedGroup(network), rows));
    boolean byLayer = expected.map(FusionTimes::areLayersFaster).orElse(false);
    if (byLayer && products != null) {
      Optional<CompiledProgram> gemms =
          WideNetwork.plan(
                  network,
                  rows,
                  target,
                  precision,
                  kernels,
                  products,
                  expected.map(FusionTimes::text).orElse("")
                      + unchained(kernels.unchained(chain.group())),
                  false)
              .map(WideNetwork.Planned::program);
      if (gemms.isPresent()) {
        return gemms.get();
      }
    }
    GpuKernels.Fused chained =
        kernels.registerChain(chain.group(), constants(chain.network()), fast);
    if (chained.kernel() != null) {
      return one(chain.network(), precision, target, List.of(chain.group()), chained);
    }
    List<StageGroup> groups = StageGroup.split(network, Partition.fused(network));
    int results = network.outputs().size();
    GpuKernels.Fused fused =
        results > MOST_RESULTS
            ? new GpuKernels.Fused(null, results + " results are too many for one kernel")
            : kernels.rowBlock(groups.getFirst(), rows, chained.why(), fast);
    List<CompiledKernel> compiled = new ArrayList<>();
    String why = fused.why();
    if (fused.kernel() != null) {
      compiled.add(fused.kernel());
    }
    if (fused.kernel() == null && products != null) {
      Optional<WideNetwork.Planned> gemms =
          WideNetwork.plan(network, rows, target, precision, kernels, products, why, false);
      if (gemms.isPresent()) {
        return gemms.get().program();
      }
    }
    if (fused.kernel() == null || byLayer) {
      double oneKernel = PredictedTime.micros(compiled, network.rows().var(), rows);
      if (fused.kernel() != null) {
        why =
            String.format(
                Locale.ROOT,
                "one kernel would have too few blocks at work (predicted %.0f us)",
                oneKernel);
      }
      List<CompiledKernel> each = new ArrayList<>();
      for (StageGroup group : layers) {
        each.add(kernels.layer(group, why));
      }
      if (fused.kernel() == null
          || PredictedTime.micros(each, network.rows().var(), rows) < oneKernel) {
        groups = layers;
        compiled = each;
      }
    }
    return program(
        network,
        precision,
        target,
        groups,
        compiled,
        network.constants().stream().map(PackedConstant::plain).toList());
  }

  private static String unchained(String why) {
    return why.isEmpty() ? "" : ", not in registers, for " + why;
  }

  /** A network as registers carry it: products of few inputs are formulas. */
  private record Chain(NetworkFunction network, StageGroup group) {
    static Chain of(Graph graph, Precision precision) {
      NetworkFunction network =
          NetworkBuilder.build(
              graph,
              new FunctionOptions(
                  precision, GRANULE, precision == Precision.F32, false, true, true));
      return new Chain(network, StageGroup.split(network, Partition.fused(network)).getFirst());
    }
  }

  /**
   * A way to make one program of a network, of several that a search may measure.
   *
   * @param name of the strategy and its parameters, the same whenever the network is compiled:
   *     {@code register chaining consumers=6 prefetch=1 stages=1}
   * @param compile makes the program; empty if the target turns out not to carry it
   */
  public record Alternative(String name, Supplier<Optional<CompiledProgram>> compile) {}

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
    List<Alternative> alternatives = alternatives(graph, target, precision, rows);
    Optional<FusionTimes> expected = expected(graph, target, precision, rows);
    if (!expected.map(FusionTimes::mightLayersBeFaster).orElse(false)
        || products(graph, precision, rows).isEmpty()) {
      return alternatives;
    }
    String why = expected.map(FusionTimes::text).orElse("that is another way");
    List<Alternative> layers = new ArrayList<>();
    for (String name :
        target.hasHopper()
            ? List.of(GEMM_PER_LAYER, OVERLAPPING_LAYERS)
            : List.of(GEMM_PER_LAYER)) {
      layers.add(
          new Alternative(
              name,
              () -> {
                try (GemmKernels kernels = products.get()) {
                  return perLayer(graph, target, precision, rows, kernels, why, name);
                }
              }));
    }
    boolean first = expected.map(FusionTimes::areLayersFaster).orElse(false);
    alternatives.addAll(first ? 0 : Math.min(BESIDE, alternatives.size() - 1), layers);
    return alternatives;
  }

  private static Optional<CompiledProgram> perLayer(
      Graph graph,
      GpuTarget target,
      Precision precision,
      int rows,
      GemmKernels products,
      String why,
      String name) {
    return WideNetwork.plan(
            plain(graph, precision),
            rows,
            target,
            precision,
            new GpuKernels(target, precision),
            products,
            why,
            name.equals(OVERLAPPING_LAYERS))
        .map(WideNetwork.Planned::program);
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
   * @param rows to be fast for: ways that leave multiprocessors without rows come last
   */
  public static List<Alternative> alternatives(
      Graph graph, GpuTarget target, Precision precision, int rows) {
    NetworkFunction network = plain(graph, precision);
    GpuKernels kernels = new GpuKernels(target, precision);
    List<StageGroup> groups = StageGroup.split(network, Partition.fused(network));
    StageGroup group = groups.getFirst();
    List<Alternative> alternatives = new ArrayList<>();
    Chain chain = Chain.of(graph, precision);
    for (ChainTiling tiling : kernels.chains(chain.group())) {
      alternatives.add(
          new Alternative(
              GpuKernels.REGISTER_CHAINING + " " + tiling.text(),
              () ->
                  optional(
                      chain.network(),
                      precision,
                      target,
                      List.of(chain.group()),
                      kernels.registerChain(chain.group(), tiling, constants(chain.network())))));
    }
    for (WarpTiling tiling : kernels.warpChains(chain.group())) {
      alternatives.add(
          new Alternative(
              GpuKernels.REGISTER_CHAINING + " " + tiling.text(),
              () ->
                  optional(
                      chain.network(),
                      precision,
                      target,
                      List.of(chain.group()),
                      kernels.warpChain(chain.group(), tiling, constants(chain.network())))));
    }
    List<Alternative> idle = new ArrayList<>();
    for (GpuTiling tiling : kernels.tiles(group)) {
      (kernels.fills(tiling, rows) ? alternatives : idle)
          .add(
              new Alternative(
                  GpuKernels.SHARED_CHAINING + " " + tiling.text(),
                  () ->
                      optional(
                          network,
                          precision,
                          target,
                          groups,
                          kernels.rowBlock(group, tiling, "that is another way"))));
    }
    alternatives.add(
        new Alternative(
            GpuKernels.SHARED_CHAINING,
            () ->
                optional(
                    network,
                    precision,
                    target,
                    groups,
                    kernels.rowBlock(group, "that is another way"))));
    alternatives.addAll(idle);
    return alternatives;
  }

  private static Optional<CompiledProgram> optional(
      NetworkFunction network,
      Precision precision,
      GpuTarget target,
      List<StageGroup> groups,
      GpuKernels.Fused fused) {
    return fused.kernel() == null
        ? Optional.empty()
        : Optional.of(one(network, precision, target, groups, fused));
  }

  private static CompiledProgram one(
      NetworkFunction network,
      Precision precision,
      GpuTarget target,
      List<StageGroup> groups,
      GpuKernels.Fused fused) {
    return program(
        network,
        precision,
        target,
        groups,
        List.of(Objects.requireNonNull(fused.kernel())),
        network.constants().stream().map(constant -> packed(constant, fused.packed())).toList());
  }

  private static Set<Buffer> constants(NetworkFunction network) {
    return network.constants().stream().map(Constant::buffer).collect(Collectors.toSet());
  }

  private static CompiledProgram forHost(
      Graph graph, HostTarget target, Precision precision, int rows) {
    NetworkFunction network =
        NetworkBuilder.build(graph, new FunctionOptions(precision, GRANULE, true, true));
    int results = network.outputs().size();
    if (results > MOST_RESULTS_ON_HOST) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%d outputs are too many for the CPU's one kernel: at most %d; leave out some",
              results,
              MOST_RESULTS_ON_HOST));
    }
    List<StageGroup> groups = StageGroup.split(network, Partition.fused(network));
    StageGroup group = groups.getFirst();
    Set<Buffer> constants = constants(network);
    Scheduled scheduled = RowBlockSchedule.host(group, HostTiling.of(network, rows, target));
    HostProgram lowered = HostLowering.lower(scheduled.tiles(), target, constants);
    CompiledKernel compiled =
        new CompiledKernel(
            lowered.kernel(),
            group.func(),
            scheduled.trace(),
            scheduled.tiles(),
            "fused over rows in cache",
            "a core carries a few rows through all layers while they are in its cache",
            names(group));
    return program(
        network,
        precision,
        target,
        groups,
        List.of(compiled),
        network.constants().stream().map(constant -> packed(constant, lowered)).toList());
  }

  private static CompiledProgram program(
      NetworkFunction network,
      Precision precision,
      Target target,
      List<StageGroup> groups,
      List<CompiledKernel> compiled,
      List<PackedConstant> constants) {
    List<KernelCall> calls = new ArrayList<>();
    for (int i = 0; i < groups.size(); i++) {
      calls.add(KernelCall.of(compiled.get(i), groups.get(i)));
    }
    Map<Buffer, Buffer> packed = new HashMap<>();
    constants.forEach(c -> packed.put(c.constant().buffer(), c.buffer()));
    Program program =
        ProgramAssembly.assemble(
            network, calls, packed, constants.stream().map(PackedConstant::buffer).toList());
    return new CompiledProgram(
        network, precision, target, program, constants, compiled, OptionalInt.empty());
  }

  private static PackedConstant packed(Constant constant, Map<Buffer, PackConstants.Form> forms) {
    PackConstants.Form form = forms.get(constant.buffer());
    return form == null
        ? PackedConstant.plain(constant)
        : new PackedConstant(form.buffer(), form.where(), form.tf32() ? constant.tf32() : constant);
  }

  private static PackedConstant packed(Constant constant, HostProgram lowered) {
    HostProgram.Packed form = lowered.packed().get(constant.buffer());
    return form == null
        ? PackedConstant.plain(constant)
        : new PackedConstant(form.buffer(), form.where(), constant);
  }

  static List<String> names(StageGroup group) {
    return group.stages().stream().map(Stage::block).toList();
  }
}
