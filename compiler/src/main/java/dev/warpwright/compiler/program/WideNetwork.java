package dev.warpwright.compiler.program;

import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.target.Target;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A network whose layers are too wide to stay on the chip: each product is a kernel of the
 * {@linkplain dev.warpwright.families families}, tuned or chosen by the analytic model, with bias
 * and activation as its epilogue; simple kernels do the rest. Such kernels are for one row count.
 */
final class WideNetwork {
  private static final double LAUNCH_US = 3;

  private final NetworkFunction network;
  private final StageReads reads;
  private final Precision precision;
  private final GpuKernels simple;
  private final GemmKernels products;
  private final String why;
  private final java.util.Map<GemmWorkload, Chosen> chosen = new HashMap<>();
  private final java.util.Map<Buffer, Buffer> aliases = new HashMap<>();
  private final List<PackedConstant> tables = new ArrayList<>();
  private final List<KernelCall> calls = new ArrayList<>();
  private double micros;

  private WideNetwork(
      NetworkFunction network,
      Precision precision,
      GpuKernels simple,
      GemmKernels products,
      String why) {
    this.network = network;
    this.reads = StageReads.of(network.func());
    this.precision = precision;
    this.simple = simple;
    this.products = products;
    this.why = why;
  }

  /** A kernel that layers of one shape share, and what their calls have in common. */
  private record Chosen(
      GemmKernels.Found found, BoundKernel bound, java.util.Map<Buffer, Buffer> tables) {}

  /**
   * A program.
   *
   * @param micros what the analytic model expects of it
   */
  record Planned(CompiledProgram program, double micros) {}

  /**
   * Plans.
   *
   * @param rows the row count to compile for
   * @param why there is not one kernel for all
   * @return empty if no family computes any of the products
   */
  static Optional<Planned> plan(
      NetworkFunction network,
      int rows,
      Target target,
      Precision precision,
      GpuKernels simple,
      GemmKernels products,
      String why) {
    WideNetwork wide =
        new WideNetwork(FixedRows.of(network, rows), precision, simple, products, why);
    return wide.plan() ? Optional.of(wide.planned(target, rows)) : Optional.empty();
  }

  private Planned planned(Target target, int rows) {
    List<PackedConstant> constants =
        new ArrayList<>(network.constants().stream().map(PackedConstant::plain).toList());
    constants.addAll(tables);
    Program program =
        ProgramAssembly.assemble(
            network,
            calls,
            java.util.Map.of(),
            tables.stream().map(PackedConstant::buffer).toList());
    return new Planned(
        new CompiledProgram(
            network,
            precision,
            target,
            program,
            constants,
            calls.stream().map(KernelCall::compiled).toList(),
            OptionalInt.of(rows)),
        micros);
  }

  /** What a kernel computes: stages, and how the families see them. */
  private record Part(List<Stage> stages, @Nullable LayerGemm product) {}

  private boolean plan() {
    List<Part> parts = new ArrayList<>();
    for (List<Stage> group : Partition.byLayer(network)) {
      LayerGemm product = LayerGemm.of(group, precision);
      if (product != null && chosen(product.workload()) != null) {
        parts.add(new Part(product.stages(), product));
        formulas(group.subList(product.stages().size(), group.size()), parts);
      } else {
        parts.add(new Part(group, null));
      }
    }
    if (parts.stream().allMatch(part -> part.product() == null)) {
      return false;
    }
    List<StageGroup> groups = StageGroup.split(network, parts.stream().map(Part::stages).toList());
    for (int i = 0; i < parts.size(); i++) {
      LayerGemm product = parts.get(i).product();
      if (product != null) {
        call(product);
      } else if (!isCopyForProducts(groups.get(i), parts)) {
        calls.add(KernelCall.of(simple.layer(groups.get(i), why), groups.get(i)));
        micros += LAUNCH_US;
      }
    }
    return true;
  }

  /** What no epilogue has: each formula by itself, with the copy of its result to an output. */
  private static void formulas(List<Stage> stages, List<Part> parts) {
    int next = 0;
    while (next < stages.size()) {
      boolean pair =
          next + 1 < stages.size()
              && stages.get(next) instanceof Map map
              && stages.get(next + 1) instanceof Store store
              && store.from() == map.to();
      int end = next + (pair ? 2 : 1);
      parts.add(new Part(stages.subList(next, end), null));
      next = end;
    }
  }

  /** A copy that adds no columns and that only products read: they read the original instead. */
  private boolean isCopyForProducts(StageGroup group, List<Part> parts) {
    if (group.stages().size() != 1
        || !(group.stages().getFirst() instanceof Load(String _, Buffer from, Buffer to))
        || !LayerGemm.alike(from, to)) {
      return false;
    }
    for (Part part : parts) {
      if (part.product() == null
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
    Optional<GemmKernels.Found> found = products.find(workload);
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
    java.util.Map<Buffer, Buffer> own = new HashMap<>();
    bound
        .contents()
        .forEach(
            (buffer, content) -> {
              if (content instanceof BoundKernel.Content.Table(List<Integer> values)) {
                own.put(buffer, table(values));
              }
            });
    Chosen made = new Chosen(found.get(), bound, own);
    chosen.put(workload, made);
    return made;
  }

  private Buffer table(List<Integer> values) {
    String name = "table" + tables.size();
    Buffer buffer = Buffer.of(name, DType.I32, Scope.GLOBAL, (long) values.size());
    ConstantTensor source =
        ConstantTensor.ofLongs(
            name,
            List.of((long) values.size()),
            values.stream().mapToLong(Integer::longValue).toArray());
    tables.add(PackedConstant.plain(new Constant(buffer, source, false)));
    return buffer;
  }

  private void call(LayerGemm layer) {
    Chosen kernel = Objects.requireNonNull(chosen.get(layer.workload()));
    Product product = layer.product();
    java.util.Map<String, Buffer> operands = new HashMap<>();
    operands.put("A", original(product.a()));
    operands.put("B", product.weight());
    operands.put("C", layer.result());
    if (layer.ending().bias() != null) {
      operands.put(Epilogue.Operand.BIAS.buffer(), layer.ending().bias());
    }
    if (layer.ending().residual() != null) {
      operands.put(Epilogue.Operand.RESIDUAL.buffer(), original(layer.ending().residual()));
    }
    List<Param> arguments = new ArrayList<>();
    List<Buffer> zeroed = new ArrayList<>();
    kernel
        .bound()
        .contents()
        .forEach(
            (formal, content) -> {
              Buffer actual =
                  switch (content) {
                    case BoundKernel.Content.Table _ ->
                        Objects.requireNonNull(kernel.tables().get(formal));
                    case BoundKernel.Content.Random _ -> operand(operands, formal);
                    case BoundKernel.Content.Poison _ ->
                        operands.getOrDefault(formal.name(), scratch(formal));
                    case BoundKernel.Content.Zero _ -> scratch(formal);
                  };
              if (content instanceof BoundKernel.Content.Zero) {
                zeroed.add(actual);
              }
              arguments.add(actual);
            });
    micros += kernel.found().predictedUs();
    calls.add(new KernelCall(compiled(layer, kernel), arguments, zeroed));
  }

  private Buffer original(Buffer buffer) {
    return aliases.getOrDefault(buffer, buffer);
  }

  private static Buffer operand(java.util.Map<String, Buffer> operands, Buffer formal) {
    Buffer buffer = operands.get(formal.name());
    if (buffer == null) {
      throw new IllegalStateException("a product's kernel reads " + formal.name());
    }
    return buffer;
  }

  private static Buffer scratch(Buffer formal) {
    return new Buffer(
        formal.name(),
        formal.dtype(),
        formal.shape(),
        formal.scope(),
        formal.layout(),
        formal.alignment());
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
