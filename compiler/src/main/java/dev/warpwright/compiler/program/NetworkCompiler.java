package dev.warpwright.compiler.program;

import dev.warpwright.base.UserError;
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

  /** Up to this width, one kernel has been at least as fast as several wherever it was measured. */
  private static final int ALWAYS_FUSED = 512;

  /** Every result has loops of its own that one kernel would share: time grows as their square. */
  private static final int MOST_RESULTS = 128;

  private static final int MOST_RESULTS_ON_HOST = 256;

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
            preferred == null ? Optional.empty() : named(graph, gpu, precision, preferred);
        yield measured.isPresent()
            ? measured.get()
            : forGpu(graph, gpu, precision, rows, products, fast);
      }
      case HostTarget host -> forHost(graph, host, precision, rows);
    };
  }

  private static Optional<CompiledProgram> named(
      Graph graph, GpuTarget target, Precision precision, String name) {
    return alternatives(graph, target, precision).stream()
        .filter(alternative -> alternative.name().equals(name))
        .findFirst()
        .flatMap(alternative -> alternative.compile().get());
  }

  /** Whether a network may need kernels that are for one row count. */
  public static boolean isWide(Graph graph, Precision precision) {
    return NetworkBuilder.build(graph, new FunctionOptions(precision, GRANULE, false, false))
            .widest()
        > ALWAYS_FUSED;
  }

  /**
   * The products of a network as the families compute them, in order; what they do not compute is
   * left out.
   *
   * @param rows the row count
   */
  public static List<GemmWorkload> products(Graph graph, Precision precision, int rows) {
    NetworkFunction network =
        FixedRows.of(
            NetworkBuilder.build(
                graph, new FunctionOptions(precision, GRANULE, precision == Precision.F32, false)),
            rows);
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
    boolean fma = precision == Precision.F32;
    NetworkFunction network =
        NetworkBuilder.build(graph, new FunctionOptions(precision, GRANULE, fma, false));
    GpuKernels kernels = new GpuKernels(target, precision);
    List<StageGroup> groups = StageGroup.split(network, Partition.fused(network));
    int results = network.outputs().size();
    Chain chain = Chain.of(graph, precision);
    GpuKernels.Fused chained =
        kernels.registerChain(chain.group(), constants(chain.network()), fast);
    if (chained.kernel() != null) {
      return one(chain.network(), precision, target, List.of(chain.group()), chained);
    }
    GpuKernels.Fused fused =
        results > MOST_RESULTS
            ? new GpuKernels.Fused(null, results + " results are too many for one kernel")
            : kernels.rowBlock(groups.getFirst(), chained.why());
    List<CompiledKernel> compiled = new ArrayList<>();
    String why = fused.why();
    if (fused.kernel() != null) {
      compiled.add(fused.kernel());
    }
    if (fused.kernel() == null || network.widest() > ALWAYS_FUSED) {
      List<StageGroup> layers = StageGroup.split(network, Partition.byLayer(network));
      double oneKernel = PredictedTime.micros(compiled, network.rows().var(), rows);
      if (fused.kernel() != null) {
        why =
            String.format(
                Locale.ROOT,
                "one kernel would have too few blocks at work (predicted %.0f us)",
                oneKernel);
      }
      if (products != null) {
        Optional<WideNetwork.Planned> wide =
            WideNetwork.plan(network, rows, target, precision, kernels, products, why);
        if (wide.isPresent() && (fused.kernel() == null || wide.get().micros() < oneKernel)) {
          return wide.get().program();
        }
      }
      List<CompiledKernel> each = new ArrayList<>();
      for (StageGroup group : layers) {
        each.add(kernels.layer(group, why));
      }
      double byLayer = PredictedTime.micros(each, network.rows().var(), rows);
      if (fused.kernel() == null || byLayer < oneKernel) {
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
   * The ways to make a network one kernel, the presumably fastest first; {@link #compile} takes the
   * first that compiles.
   */
  public static List<Alternative> alternatives(Graph graph, GpuTarget target, Precision precision) {
    NetworkFunction network =
        NetworkBuilder.build(
            graph, new FunctionOptions(precision, GRANULE, precision == Precision.F32, false));
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
        : new PackedConstant(form.buffer(), form.where(), constant);
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
