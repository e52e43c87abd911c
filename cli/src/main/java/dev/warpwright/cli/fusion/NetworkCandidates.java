package dev.warpwright.cli.fusion;

import dev.warpwright.base.DeepStack;
import dev.warpwright.base.DeviceError;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.fusion.Alternative;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.fusion.PerLayerWay;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.tuned.CompiledCheck;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.network.NetworkProgram;
import dev.warpwright.space.record.Environment;
import dev.warpwright.target.GpuTarget;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The ways to compute a network on a target. */
final class NetworkCandidates {
  /** The strategy of all networks before there were others. */
  static final String OLD = "shared chaining";

  private final NetworkTask task;
  private final GpuTarget target;
  private final Supplier<GemmKernels> products;
  private final List<Alternative> alternatives;
  private final ConstantStore store;

  /**
   * A program, ready for a bench.
   *
   * @param compiled what it was made of
   */
  record Made(String name, CompiledProgram compiled, NetworkProgram program) {}

  /** With GEMMs for layers as they are chosen where the device is not asked for its name. */
  NetworkCandidates(NetworkTask task, GpuTarget target) {
    this(task, target, new ConstantStore(), () -> GemmKernels.of(target));
  }

  /**
   * With GEMMs for layers.
   *
   * @param store where programs of networks with the same weights find them packed
   * @param products makes what they are chosen by, for every way that needs it anew
   */
  NetworkCandidates(
      NetworkTask task, GpuTarget target, ConstantStore store, Supplier<GemmKernels> products) {
    this.store = store;
    this.task = task;
    this.target = target;
    this.products = products;
    List<Alternative> all =
        new ArrayList<>(
            DeepStack.call(
                () ->
                    NetworkCompiler.alternatives(
                        task.graph(), target, task.precision(), task.rows(), products)));
    all.addAll(MergedWays.of(task, target));
    this.alternatives = List.copyOf(all);
  }

  /** With GEMMs for layers as a device has them and a file of records says. */
  static NetworkCandidates on(TuningDevice here, NetworkTask task, Path records) {
    return new NetworkCandidates(
        task, here.target(), new ConstantStore(), () -> products(here, records));
  }

  /** As a {@link dev.warpwright.compiler.GpuDevice} has them; the device is the bench's. */
  static GemmKernels products(TuningDevice here, Path records) {
    return GemmKernels.of(here.target(), anyCompiler(here), here.sms(), records).trusting();
  }

  /** The same, as if nothing had been measured. */
  static GemmKernels untuned(TuningDevice here) {
    return GemmKernels.untuned(here.target(), anyCompiler(here), here.sms()).trusting();
  }

  private static Environment anyCompiler(TuningDevice here) {
    Environment all = here.environment();
    return new Environment(all.target(), all.device(), all.driver(), "", "");
  }

  /** Names of all alternatives, the presumably fastest first. */
  List<String> names() {
    return alternatives.stream().map(Alternative::name).toList();
  }

  /** The alternative that a way is, or is one of if it names kernels of its own. */
  static String alternative(String name) {
    return PerLayerWay.of(name).map(PerLayerWay::plain).map(PerLayerWay::name).orElse(name);
  }

  /** Whether a way is among those to compute the network. */
  boolean has(String name) {
    return names().contains(alternative(name));
  }

  /**
   * One alternative, or one with a GEMM for each layer and kernels of its own; empty if the target
   * does not carry it.
   */
  Optional<Made> make(String name) {
    return alternatives.stream()
        .filter(alternative -> alternative.name().equals(name))
        .findFirst()
        .or(() -> perLayer(name))
        .flatMap(this::make);
  }

  private Optional<Alternative> perLayer(String name) {
    return PerLayerWay.of(name)
        .filter(way -> has(name))
        .map(
            way ->
                DeepStack.call(
                    () ->
                        NetworkCompiler.alternative(
                            task.graph(), target, task.precision(), task.rows(), products, way)));
  }

  /** The kernels to choose from for each call of ways with a GEMM for each layer. */
  Map<String, List<String>> choices(int most, double slower) {
    try (GemmKernels kernels = products.get()) {
      return NetworkCompiler.choices(
          task.graph(), target, task.precision(), task.rows(), kernels, most, slower);
    }
  }

  private Optional<Made> make(Alternative alternative) {
    return DeepStack.call(() -> alternative.compile().get())
        .map(compiled -> made(alternative.name(), compiled));
  }

  /**
   * All that the target carries, made at the same time. Of ways that come to the same kernels, as
   * where there is nothing to read ahead, the first.
   */
  List<Made> all() {
    Set<List<String>> kernels = new HashSet<>();
    return atOnce(alternatives).stream().filter(made -> kernels.add(sources(made))).toList();
  }

  private List<String> sources(Made made) {
    return made.compiled().kernels().stream()
        .map(kernel -> CudaPrinter.print(kernel.kernel(), target))
        .toList();
  }

  private List<Made> atOnce(List<Alternative> some) {
    int threads = Math.clamp(some.size(), 1, Runtime.getRuntime().availableProcessors());
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<Callable<Optional<Made>>> tasks = new ArrayList<>();
      some.forEach(alternative -> tasks.add(() -> make(alternative)));
      List<Made> made = new ArrayList<>();
      for (Future<Optional<Made>> done : pool.invokeAll(tasks)) {
        done.get().ifPresent(made::add);
      }
      return made;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted while kernels were generated");
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(e.getCause());
    }
  }

  /**
   * What {@code run} uses.
   *
   * @param preferred name of the alternative that records prefer; null for none
   */
  Made chosen(@Nullable String preferred) {
    if (task.merging() == null) {
      return unmerged(preferred);
    }
    CompiledProgram merged = task.merged(target);
    return made(strategies(merged), merged);
  }

  /** The same as if nothing were said of how its GEMMs share a kernel. */
  Made unmerged(@Nullable String preferred) {
    if (preferred != null) {
      Optional<Made> best = make(preferred);
      if (best.isPresent()) {
        return best.get();
      }
    }
    try (GemmKernels kernels = isByLayer() ? products.get() : null) {
      NetworkCompiler.Chosen chosen =
          DeepStack.call(
              () ->
                  NetworkCompiler.choose(
                      task.graph(), target, task.precision(), task.rows(), kernels, this::spills));
      CompiledProgram program = chosen.program();
      return made(chosen.name().isEmpty() ? strategies(program) : chosen.name(), program);
    }
  }

  private boolean isByLayer() {
    return NetworkCompiler.isByLayer(task.graph(), target, task.precision(), task.rows());
  }

  private int spills(Kernel kernel) {
    return CompiledCheck.spills(
        kernel, CudaCompilers.compile(CudaPrinter.print(kernel, target), target));
  }

  private static String strategies(CompiledProgram compiled) {
    return compiled.kernels().size()
        + (compiled.kernels().size() == 1 ? " kernel: " : " kernels: ")
        + compiled.kernels().stream()
            .map(CompiledKernel::strategy)
            .distinct()
            .collect(Collectors.joining(", "));
  }

  private Made made(String name, CompiledProgram compiled) {
    Map<Buffer, Object> constants = new HashMap<>();
    for (PackedConstant constant : compiled.constants()) {
      constants.put(constant.buffer(), store.array(constant));
    }
    return new Made(
        name,
        compiled,
        new NetworkProgram(
            name, compiled.program(), compiled.fixedRows().orElse(task.rows()), constants));
  }
}
