package dev.warpwright.compiler.fusion;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.KernelCall;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionConfig.Combine;
import dev.warpwright.families.attention.AttentionConfig.Instruction;
import dev.warpwright.families.attention.AttentionKernels;
import dev.warpwright.families.attention.AttentionModel;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.families.tuned.TunedAttention;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.schedule.trace.Trace;
import dev.warpwright.space.Point;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Attention in a network by the family's kernels: its rows are entries, which all have all keys.
 * Queries, keys, values and the result are the network's buffers in another shape.
 */
public final class AttentionCalls {
  /** Of its kernels. */
  public static final String STRATEGY = "attention";

  private final String name;
  private final GpuTarget target;
  private final GemmKernels tuned;
  private final PerLayerWay way;
  private final Map<Attention, AttentionConfig> configs = new HashMap<>();
  private final Map<Key, AttentionKernels> known = new HashMap<>();
  private final Map<Kernel, Kernel> named = new HashMap<>();

  /** What layers share kernels of: the same attention of the same formulas, if it has such. */
  private record Key(Attention attention, String formulas) {}

  /**
   * Calls of a network's program.
   *
   * @param name of the network
   * @param tuned what was measured
   * @param way which may name kernels
   */
  AttentionCalls(String name, GpuTarget target, GemmKernels tuned, PerLayerWay way) {
    this.name = name;
    this.target = target;
    this.tuned = tuned;
    this.way = way;
  }

  /** Whether the kernel of an attention can make what a step brings itself. */
  boolean takes(NetworkFunction.Attention attention, int rows, TokenFormulas formulas) {
    Attention workload = workload(name, attention, rows);
    return AttentionKernels.takes(workload, config(workload), formulas.token());
  }

  /**
   * The launches of an attention.
   *
   * @param rows of the network
   * @param formulas of what its kernel makes itself, which it {@linkplain #takes can}; null for
   *     none
   * @throws UserError if no kernel computes it on the target
   */
  List<KernelCall> of(
      NetworkFunction.Attention attention, int rows, @Nullable TokenFormulas formulas) {
    Attention workload = workload(name, attention, rows);
    AttentionConfig config = config(workload);
    AttentionKernels kernels =
        known.computeIfAbsent(
            new Key(workload, formulas == null ? "" : formulas.text()),
            key ->
                formulas == null
                    ? AttentionKernels.ofFull(workload, config, target)
                    : AttentionKernels.ofStep(workload, config, target, formulas.token()));
    Map<String, Buffer> buffers = new HashMap<>();
    buffers.put("Q", attention.q());
    buffers.put("K", attention.k());
    buffers.put("V", attention.v());
    buffers.put("O", attention.to());
    List<String> stages = new ArrayList<>();
    if (formulas != null) {
      formulas.read().forEach((formal, actual) -> buffers.put(formal.name(), actual));
      stages.addAll(formulas.blocks());
    }
    stages.addAll(attention.blocks());
    List<KernelCall> calls = new ArrayList<>();
    for (int i = 0; i < kernels.kernels().size(); i++) {
      Kernel kernel = kernels.kernels().get(i);
      List<Param> arguments = new ArrayList<>();
      for (Param param : kernel.params()) {
        arguments.add(buffers.computeIfAbsent(param.name(), p -> scratch((Buffer) param)));
      }
      calls.add(new KernelCall(compiled(kernels, i, stages), arguments, List.of()));
    }
    return calls;
  }

  /**
   * What the family computes.
   *
   * @param name of the network
   */
  static Attention workload(String name, NetworkFunction.Attention a, int rows) {
    Attention workload;
    try {
      workload =
          new Attention(
              rows,
              a.heads(),
              a.kvHeads(),
              a.headSize(),
              1,
              a.keys(),
              false,
              a.scale(),
              a.q().dtype(),
              0);
    } catch (IllegalArgumentException e) {
      throw new UserError("attention in " + Names.quote(name) + ": " + e.getMessage(), e);
    }
    boolean dense =
        a.q().storageElements() == workload.rowsBuffer("Q").storageElements()
            && a.to().storageElements() == a.q().storageElements()
            && a.k().storageElements() == workload.cache("K").storageElements()
            && a.v().storageElements() == a.k().storageElements();
    if (!dense) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "attention of %d heads of %d in a network for GPUs: columns that are no multiple of"
                  + " %d are not supported; use the CPU",
              a.heads(),
              a.headSize(),
              FusionInput.GRANULE));
    }
    return workload;
  }

  /** The way's configuration, or else the fastest one measured, or the presumably fastest. */
  private AttentionConfig config(Attention workload) {
    AttentionConfig chosen = configs.get(workload);
    if (chosen != null) {
      return chosen;
    }
    String digest = way.kernel(PerLayerWay.attention(configs.size()));
    List<AttentionConfig> ranked =
        ranked(workload, target).stream().map(AttentionModel.Expected::config).toList();
    AttentionConfig config =
        ranked.stream()
            .filter(each -> digest(each).equals(digest))
            .findFirst()
            .or(() -> tuned.attention(workload).map(TunedAttention::config))
            .orElse(ranked.getFirst());
    configs.put(workload, config);
    return config;
  }

  /** The ways to compute an attention, the presumably fastest first. */
  private static List<AttentionModel.Expected> ranked(Attention workload, GpuTarget target) {
    DeviceModel device =
        Prediction.device(target)
            .orElseThrow(() -> new UserError("no device of " + target.name() + " is known"));
    return AttentionModel.ranked(workload, device);
  }

  /** What configurations differ in beside the sizes of a step: of each kind one is tried first. */
  private record Kind(Instruction by, int splits, Combine combine, boolean persistent) {
    static Kind of(AttentionConfig config) {
      return new Kind(config.instruction(), config.splits(), config.combine(), config.blocks() > 0);
    }
  }

  /**
   * Ways to compute an attention that are worth measuring in a program: the presumably fastest of
   * some kinds, then others, which leave more or less shared memory to the launch beside them.
   *
   * @param most so many
   * @param slower than the fastest, at most, as they are expected to be; of what the model was not
   *     fitted to it knows less
   */
  static List<AttentionConfig> choices(
      Attention workload, GpuTarget target, int most, double slower) {
    List<AttentionModel.Expected> ranked = ranked(workload, target);
    double best = ranked.getFirst().micros();
    List<AttentionModel.Expected> likely =
        ranked.stream()
            .filter(
                each ->
                    each.micros()
                        <= slower
                            * best
                            * (AttentionModel.isMeasured(workload, each.config())
                                ? 1
                                : AttentionModel.UNMEASURED))
            .toList();
    List<AttentionConfig> near = likely.stream().map(AttentionModel.Expected::config).toList();
    Map<Kind, AttentionConfig> kinds = new LinkedHashMap<>();
    near.forEach(config -> kinds.putIfAbsent(Kind.of(config), config));
    Stream<AttentionConfig> different =
        Stream.of(AttentionModel.kinds(likely), kinds.values())
            .flatMap(Collection::stream)
            .distinct()
            .limit(Math.ceilDiv(most, 2));
    return Stream.concat(different, near.stream()).distinct().limit(most).toList();
  }

  /** What the launches of an attention of so many rows are expected to take, in microseconds. */
  public static double expectedUs(
      NetworkFunction network, NetworkFunction.Attention attention, int rows, GpuTarget target) {
    DeviceModel device = Prediction.device(target).orElseThrow();
    return AttentionModel.ranked(workload(network.func().name(), attention, rows), device)
        .getFirst()
        .micros();
  }

  /** What stands for a configuration. */
  static String digest(AttentionConfig config) {
    return Point.parse(config.text()).digest();
  }

  private CompiledKernel compiled(AttentionKernels kernels, int launch, List<String> stages) {
    Kernel kernel = kernels.kernels().get(launch);
    Kernel own =
        named.computeIfAbsent(
            kernel,
            k ->
                new Kernel(
                    name + "_attention" + named.size(),
                    k.kind(),
                    k.params(),
                    k.bindings(),
                    k.body(),
                    k.attrs()));
    return new CompiledKernel(
        Objects.requireNonNull(own),
        kernels.tiles().get(launch),
        new Trace(List.of()),
        kernels.tiles().get(launch),
        STRATEGY,
        String.format(
            Locale.ROOT,
            "attention is a kernel of its own; %s, %s, %s",
            kernels.attention().key().text(),
            kernels.config().text(),
            way.kernels().containsValue(digest(kernels.config()))
                ? "which was measured to be the fastest"
                : "chosen by the analytic model"),
        stages);
  }

  private static Buffer scratch(Buffer formal) {
    return Buffer.of(formal.name(), formal.dtype(), formal.scope(), formal.shape());
  }
}
