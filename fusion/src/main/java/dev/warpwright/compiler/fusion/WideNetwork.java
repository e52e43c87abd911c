package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.KernelCall;
import dev.warpwright.compiler.program.OverlappedCalls;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.compiler.program.ProgramAssembly;
import dev.warpwright.compiler.program.SideBySide;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Scope;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Ending;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.networks.layers.FixedRows;
import dev.warpwright.networks.layers.LayerGemm;
import dev.warpwright.networks.layers.LayerParts;
import dev.warpwright.networks.layers.LayerParts.Part;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.networks.stages.StageReads;
import dev.warpwright.target.Target;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A network whose layers are too wide to stay on the chip: each product is a kernel of the
 * {@linkplain dev.warpwright.families families}, tuned or chosen by the analytic model, with bias
 * and activation as its epilogue; simple kernels do the rest. Such kernels are for one row count.
 */
final class WideNetwork {
  private final FusionInput in;
  private final NetworkFunction network;
  private final StageReads reads;
  private final GemmKernels products;
  private final String why;
  private final PerLayerWay way;
  private final List<GemmWorkload> named;
  private final java.util.Map<GemmWorkload, Chosen> chosen = new HashMap<>();
  private final java.util.Map<Buffer, Buffer> aliases = new HashMap<>();

  /** What was written with its first rows last. */
  private final Set<Buffer> backward = new HashSet<>();

  private final List<PackedConstant> made = new ArrayList<>();
  private final FamilyCalls family = new FamilyCalls(made);
  private final AttentionCalls attentions;
  private List<KernelCall> calls = new ArrayList<>();

  private WideNetwork(FusionInput in, GemmKernels products, String why, PerLayerWay way) {
    this.in = in;
    this.network = FixedRows.of(in.network(), in.rows());
    this.reads = StageReads.of(network.func());
    this.attentions = new AttentionCalls(network.func().name(), in.target(), products, way);
    this.products = products;
    this.why = why;
    this.way = way;
    this.named = in.gemms().stream().distinct().toList();
  }

  /**
   * A kernel that layers of one shape share, and what their calls have in common.
   *
   * @param tables that it reads, as it was chosen
   * @param backward the same with the last tile first; empty if the kernel has no such table
   */
  private record Chosen(
      GemmKernels.Found found,
      BoundKernel bound,
      java.util.Map<Buffer, Buffer> tables,
      java.util.Map<Buffer, Buffer> backward) {}

  /**
   * Plans.
   *
   * @param why there is not one kernel for all
   * @param way which of the programs
   * @return empty if no family computes any of the products
   */
  static Optional<CompiledProgram> plan(
      FusionInput in, GemmKernels products, String why, PerLayerWay way) {
    WideNetwork wide = new WideNetwork(in, products, why, way);
    return wide.plan() ? Optional.of(wide.planned(in.target(), in.rows())) : Optional.empty();
  }

  private CompiledProgram planned(Target target, int rows) {
    Set<Param> used = new HashSet<>();
    calls.forEach(call -> used.addAll(call.arguments()));
    List<PackedConstant> constants =
        new ArrayList<>(
            network.constants().stream()
                .filter(constant -> used.contains(constant.buffer()))
                .map(PackedConstant::plain)
                .toList());
    made.stream().filter(constant -> used.contains(constant.buffer())).forEach(constants::add);
    Set<Buffer> constant =
        constants.stream().map(PackedConstant::buffer).collect(Collectors.toSet());
    calls = SideBySide.of(calls);
    calls =
        !way.overlapping()
            ? OverlappedCalls.of(calls, target, rows, constant)
            : way.filling()
                ? OverlappedCalls.filling(calls, target, constant)
                : OverlappedCalls.all(calls, target, rows, constant);
    Program program =
        ProgramAssembly.assemble(
            network,
            calls,
            java.util.Map.of(),
            constants.stream().map(PackedConstant::buffer).toList());
    return new CompiledProgram(
        network,
        in.precision(),
        target,
        program,
        constants,
        calls.stream().map(KernelCall::compiled).toList(),
        OptionalInt.of(rows));
  }

  private boolean plan() {
    Predicate<GemmWorkload> has = workload -> chosen(workload) != null;
    List<Part> parts =
        way.norms()
            ? LayerParts.normed(network, in.precision(), has)
            : LayerParts.of(network, in.precision(), has);
    if (parts.stream().allMatch(part -> part.product() == null) && !in.attends()) {
      return false;
    }
    parts = attentionsApart(parts);
    java.util.Map<NetworkFunction.Attention, TokenFormulas> tokens = tokens(parts);
    Set<Part> inAttention = new HashSet<>();
    tokens.values().forEach(formulas -> inAttention.addAll(formulas.parts()));
    List<StageGroup> groups = StageGroup.split(network, parts.stream().map(Part::stages).toList());
    for (int i = 0; i < parts.size(); i++) {
      LayerGemm product = parts.get(i).product();
      NetworkFunction.Attention attention = attention(parts.get(i));
      if (product != null) {
        call(product);
      } else if (attention != null) {
        if (isEnd(attention, parts.get(i))) {
          calls.addAll(
              attentions.of(attention.with(this::original), in.rows(), tokens.get(attention)));
        }
      } else if (!parts.get(i).inGemms()
          && !inAttention.contains(parts.get(i))
          && !isCopyForGemms(groups.get(i), parts)) {
        calls.add(KernelCall.of(SimpleLayers.kernel(in, groups.get(i), why), groups.get(i)));
      }
    }
    return true;
  }

  /** What attentions make themselves, in ways in which they do, where they can. */
  private java.util.Map<NetworkFunction.Attention, TokenFormulas> tokens(List<Part> parts) {
    java.util.Map<NetworkFunction.Attention, TokenFormulas> tokens = new HashMap<>();
    for (NetworkFunction.Attention attention : network.attentions()) {
      if (way.queries()) {
        TokenFormulas.of(network, reads, parts, attention)
            .filter(formulas -> attentions.takes(attention, in.rows(), formulas))
            .ifPresent(formulas -> tokens.put(attention, formulas));
      }
    }
    return tokens;
  }

  /** The attention that a part belongs to; null if it is none. */
  private NetworkFunction.@Nullable Attention attention(Part part) {
    String block = part.stages().getFirst().block();
    return network.attentions().stream()
        .filter(attention -> attention.blocks().contains(block))
        .findFirst()
        .orElse(null);
  }

  private static boolean isEnd(NetworkFunction.Attention attention, Part part) {
    return part.stages().stream()
        .anyMatch(stage -> stage.block().equals(attention.blocks().getLast()));
  }

  /** What shares a simple kernel with attention's last stage is a part of its own. */
  private List<Part> attentionsApart(List<Part> parts) {
    List<Part> apart = new ArrayList<>();
    for (Part part : parts) {
      NetworkFunction.Attention attention = attention(part);
      int end = part.stages().size();
      for (int i = 0; attention != null && i < part.stages().size(); i++) {
        if (!attention.blocks().contains(part.stages().get(i).block())) {
          end = Math.min(end, i);
        }
      }
      if (part.inGemms()) {
        apart.add(part);
        continue;
      }
      apart.add(end == part.stages().size() ? part : new Part(part.stages().subList(0, end), null));
      if (end < part.stages().size()) {
        apart.add(new Part(part.stages().subList(end, part.stages().size()), null));
      }
    }
    return apart;
  }

  /** A copy that adds no columns and that only products read: they read the original instead. */
  private boolean isCopyForGemms(StageGroup group, List<Part> parts) {
    if (group.stages().size() != 1
        || !(group.stages().getFirst() instanceof Load(String _, Buffer from, Buffer to))
        || !LayerGemm.alike(from, to)) {
      return false;
    }
    for (Part part : parts) {
      if (part.product() == null
          && !part.inGemms()
          && part.stages().stream().anyMatch(stage -> reads.by(stage.block()).contains(to))) {
        return false;
      }
    }
    aliases.put(to, from);
    return true;
  }

  private @Nullable Chosen chosen(GemmWorkload workload) {
    Chosen known = chosen.get(workload);
    if (known != null) {
      return known;
    }
    GemmWorkload unnormed = workload.with(workload.epilogue().unnormed());
    Optional<GemmKernels.Found> found =
        Optional.ofNullable(way.kernel(PerLayerWay.gemm(named.indexOf(unnormed))))
            .flatMap(digest -> products.recorded(workload, digest))
            .or(() -> products.find(workload));
    if (found.isEmpty()) {
      return null;
    }
    Kernel kernel = found.get().gemm().kernel();
    Kernel named =
        new Kernel(
            network.func().name() + "_product" + chosen.size(),
            kernel.kind(),
            kernel.params(),
            kernel.bindings(),
            kernel.body(),
            kernel.attrs());
    BoundKernel bound = BoundKernel.of(named, java.util.Map.of());
    Chosen made =
        new Chosen(found.get(), bound, family.tables(bound, values -> values), new HashMap<>());
    chosen.put(workload, made);
    return made;
  }

  /**
   * The tables of a layer's tiles. A layer reads first what the layer before it wrote last: that is
   * still in L2, the rest has left it for memory.
   */
  private java.util.Map<Buffer, Buffer> tables(LayerGemm layer, Chosen kernel) {
    boolean asChosen =
        calls.isEmpty()
            || network.inputs().contains(original(layer.a()))
            || backward.contains(layer.a());
    if (asChosen || !isList(kernel.bound())) {
      return kernel.tables();
    }
    if (kernel.backward().isEmpty()) {
      kernel.backward().putAll(family.tables(kernel.bound(), List::reversed));
    }
    backward.add(layer.result());
    return kernel.backward();
  }

  /** Whether a kernel's only table lists its tiles, each once and whole, in any order. */
  private static boolean isList(BoundKernel bound) {
    long lists =
        bound.contents().entrySet().stream()
            .filter(e -> e.getValue() instanceof BoundKernel.Content.Table)
            .filter(e -> e.getKey().name().equals("order"))
            .count();
    long tables =
        bound.contents().values().stream()
            .filter(BoundKernel.Content.Table.class::isInstance)
            .count();
    return lists == 1 && tables == 1 && bound.kernel().attrs().getString("division") == null;
  }

  private void call(LayerGemm layer) {
    Chosen kernel = Objects.requireNonNull(chosen.get(layer.workload()));
    Matmul product = layer.product();
    java.util.Map<String, Buffer> operands = new HashMap<>();
    operands.put("A", original(layer.a()));
    operands.put("B", weights(layer));
    operands.put("C", layer.result());
    if (layer.workload().epilogue().bias()) {
      operands.put(Epilogue.Operand.BIAS.buffer(), bias(layer.ending()));
    }
    if (layer.ending().residual() != null) {
      operands.put(Epilogue.Operand.RESIDUAL.buffer(), original(layer.ending().residual()));
    }
    calls.add(
        FamilyCalls.call(compiled(layer, kernel), kernel.bound(), operands, tables(layer, kernel)));
  }

  /**
   * The weights of a layer, those of a gate and of what it lets through with their columns in
   * turns; a norm's factors are theirs.
   */
  private Buffer weights(LayerGemm layer) {
    Matmul gate = layer.product();
    Buffer shape = gate.weight();
    ConstantTensor factors = layer.norm() == null ? null : layer.norm().scale();
    if (layer.up() == null && factors == null) {
      return shape;
    }
    Constant first = scaled(shape, factors);
    long n = (layer.up() == null ? 1 : 2) * gate.n();
    Buffer buffer =
        first.transposed()
            ? Buffer.of(shape.name() + "_up", shape.dtype(), Scope.GLOBAL, gate.k(), n)
            : Buffer.of(shape.name() + "_up", shape.dtype(), Scope.GLOBAL, n, gate.k());
    if (layer.up() != null) {
      return interleaved(first, scaled(layer.up().weight(), factors).source(), buffer);
    }
    made.add(PackedConstant.plain(new Constant(buffer, first.source(), first.transposed())));
    return buffer;
  }

  private Constant scaled(Buffer weight, @Nullable ConstantTensor factors) {
    Constant all = constant(weight);
    return factors == null
        ? all
        : new Constant(all.buffer(), all.source().scaled(factors), all.transposed());
  }

  /** What is added to each row of an epilogue's products. */
  private Buffer bias(Ending ending) {
    Ending up = ending.up();
    if (up == null) {
      return Objects.requireNonNull(ending.bias());
    }
    Buffer shape = Objects.requireNonNull(ending.bias() == null ? up.bias() : ending.bias());
    ConstantTensor gate = ending.bias() == null ? null : constant(ending.bias()).source();
    ConstantTensor other = up.bias() == null ? null : constant(up.bias()).source();
    Constant first =
        new Constant(shape, gate == null ? Objects.requireNonNull(other).zeros() : gate, false);
    return interleaved(
        first,
        other,
        Buffer.of(shape.name() + "_up", shape.dtype(), Scope.GLOBAL, 2 * shape.extent(0)));
  }

  private Buffer interleaved(Constant gate, @Nullable ConstantTensor up, Buffer buffer) {
    long columns = buffer.extent(gate.transposed() ? 1 : 0);
    made.add(
        PackedConstant.plain(
            new Constant(
                buffer,
                gate.source().interleaved(up, columns / 2, Epilogue.GLU_GROUP),
                gate.transposed())));
    return buffer;
  }

  private Constant constant(Buffer buffer) {
    return network.constants().stream()
        .filter(constant -> constant.buffer() == buffer)
        .findFirst()
        .orElseThrow();
  }

  private Buffer original(Buffer buffer) {
    return aliases.getOrDefault(buffer, buffer);
  }

  private CompiledKernel compiled(LayerGemm layer, Chosen kernel) {
    String origin =
        switch (kernel.found().origin()) {
          case TUNED -> "tuned for this shape";
          case UNTESTED -> "recorded for this shape, untested with this compiler, driver or source";
          case TRANSFERRED -> "tuned for this shape with another epilogue or type";
          case UNTUNED -> "chosen by the analytic model, not tuned";
        };
    return new CompiledKernel(
        kernel.bound().kernel(),
        kernel.found().gemm().func(),
        kernel.found().gemm().trace(),
        kernel.found().gemm().tiles(),
        kernel.found().origin() == TunedGemm.Origin.UNTUNED ? "epilogue" : "epilogue, tuned",
        String.format(
            Locale.ROOT, "%s; its kernel for %s is %s", why, layer.workload().key().text(), origin),
        layer.stages().stream().map(Stage::block).toList());
  }
}
