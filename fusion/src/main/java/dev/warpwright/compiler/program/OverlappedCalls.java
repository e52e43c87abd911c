package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.lower.launch.EarlyStart;
import dev.warpwright.lower.launch.EarlyWeights;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.target.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * Lets launches of GEMMs of few rows overlap (programmatic dependent launch): such a GEMM streams
 * its weights, which depend on no launch, so each kernel fills its ring with them before it waits
 * for the one before it. Two neighbours overlap or none: an SM goes on with the second one's
 * weights when its blocks of the first are done.
 */
public final class OverlappedCalls {
  /** From so many rows on, a launch has more to do than to wait for weights. */
  public static final int FEW_ROWS = 64;

  private OverlappedCalls() {}

  /**
   * The calls, of which those may overlap that gain by it.
   *
   * @param rows that all of them compute
   * @param constants of the program
   */
  public static List<KernelCall> of(
      List<KernelCall> calls, Target target, int rows, Set<Buffer> constants) {
    if (!(target instanceof GpuTarget gpu) || !gpu.hasHopper() || rows > FEW_ROWS) {
      return calls;
    }
    // Layers of a shape share a kernel, and go on to.
    Map<Kernel, Map<Set<String>, Optional<Kernel>>> made = new IdentityHashMap<>();
    List<Optional<Kernel>> early = new ArrayList<>();
    for (KernelCall call : calls) {
      Kernel kernel = call.compiled().kernel();
      early.add(
          made.computeIfAbsent(kernel, k -> new HashMap<>())
              .computeIfAbsent(names(call, constants), names -> EarlyWeights.of(kernel, names)));
    }
    List<KernelCall> result = new ArrayList<>();
    for (int i = 0; i < calls.size(); i++) {
      boolean overlaps =
          i > 0 && pair(calls, early, i - 1, gpu)
              || i + 1 < calls.size() && pair(calls, early, i, gpu);
      result.add(overlaps ? with(calls.get(i), early.get(i).orElseThrow()) : calls.get(i));
    }
    return named(result);
  }

  /** With a name of its own for each kernel: one that overlaps in one place need not in another. */
  private static List<KernelCall> named(List<KernelCall> calls) {
    Map<String, Map<Kernel, Kernel>> kernels = new HashMap<>();
    List<KernelCall> result = new ArrayList<>();
    for (KernelCall call : calls) {
      Kernel kernel = call.compiled().kernel();
      Map<Kernel, Kernel> same =
          kernels.computeIfAbsent(kernel.name(), name -> new IdentityHashMap<>());
      Kernel named =
          same.computeIfAbsent(
              kernel, k -> same.isEmpty() ? k : k.withName(k.name() + "_" + (same.size() + 1)));
      result.add(
          named == kernel
              ? call
              : new KernelCall(with(call.compiled(), named), call.arguments(), call.zeroed()));
    }
    return result;
  }

  private static CompiledKernel with(CompiledKernel old, Kernel kernel) {
    return new CompiledKernel(
        kernel,
        old.function(),
        old.trace(),
        old.tileProgram(),
        old.strategy(),
        old.why(),
        old.stages());
  }

  /**
   * The same, but whatever their rows are, neighbours without counters between them begin while the
   * one before ends. Of few rows each GEMM fills its ring with weights first, whatever is before
   * it; others wait where they begin.
   */
  public static List<KernelCall> all(
      List<KernelCall> calls, Target target, int rows, Set<Buffer> constants) {
    return begun(
        calls,
        target,
        constants,
        (kernel, names) ->
            rows > FEW_ROWS ? Optional.empty() : EarlyWeights.streaming(kernel, names));
  }

  /**
   * The same, but each GEMM fills its ring with weights first, however many rows it has. Blocks
   * that compute other rows of the same columns read the same weights, which stay in L2.
   */
  public static List<KernelCall> filling(
      List<KernelCall> calls, Target target, Set<Buffer> constants) {
    return begun(calls, target, constants, EarlyWeights::of);
  }

  private static List<KernelCall> begun(
      List<KernelCall> calls,
      Target target,
      Set<Buffer> constants,
      BiFunction<Kernel, Set<String>, Optional<Kernel>> filling) {
    if (!(target instanceof GpuTarget gpu) || !gpu.hasHopper()) {
      return calls;
    }
    List<KernelCall> result = new ArrayList<>();
    // Layers of a shape share a kernel, and go on to.
    Map<Kernel, Map<Set<String>, Optional<Kernel>>> early = new IdentityHashMap<>();
    Map<Kernel, Map<Set<String>, Optional<Kernel>>> waiting = new IdentityHashMap<>();
    for (KernelCall call : calls) {
      if (!call.zeroed().isEmpty()) {
        result.add(call);
        continue;
      }
      Kernel kernel = call.compiled().kernel();
      Set<String> names = names(call, constants);
      Optional<Kernel> filled =
          early
              .computeIfAbsent(kernel, k -> new HashMap<>())
              .computeIfAbsent(names, key -> filling.apply(kernel, key));
      if (filled.isPresent()) {
        result.add(with(call, filled.get()));
        continue;
      }
      Optional<Kernel> begun =
          waiting
              .computeIfAbsent(kernel, k -> new HashMap<>())
              .computeIfAbsent(names, key -> EarlyStart.waiting(kernel, key));
      result.add(
          begun
              .map(
                  waits ->
                      with(
                          call,
                          waits,
                          "it begins before the launch before it has ended and waits for it"))
              .orElse(call));
    }
    return named(result);
  }

  /** Whether a call and the next one overlap. */
  private static boolean pair(
      List<KernelCall> calls, List<Optional<Kernel>> early, int first, GpuTarget target) {
    if (early.get(first).isEmpty()
        || early.get(first + 1).isEmpty()
        || !calls.get(first).zeroed().isEmpty()
        || !calls.get(first + 1).zeroed().isEmpty()) {
      return false;
    }
    // Beside each other on an SM, the rings of two launches share what each would have alone.
    return shared(early.get(first).get()) + shared(early.get(first + 1).get())
        > target.sharedPerSm();
  }

  private static long shared(Kernel kernel) {
    return KernelResources.of(kernel).sharedBytes();
  }

  private static Set<String> names(KernelCall call, Set<Buffer> constants) {
    return KernelCall.constants(call.compiled().kernel(), call.arguments(), constants);
  }

  private static KernelCall with(KernelCall call, Kernel kernel) {
    return with(
        call,
        kernel,
        String.format(
            Locale.ROOT,
            "of %d rows, it begins before the launch before it has ended and fills its ring with"
                + " weights",
            kernel.buffers().stream()
                .filter(buffer -> buffer.name().equals("C"))
                .findFirst()
                .map(buffer -> buffer.extent(0))
                .orElse(0L)));
  }

  private static KernelCall with(KernelCall call, Kernel kernel, String why) {
    CompiledKernel old = call.compiled();
    return new KernelCall(
        new CompiledKernel(
            kernel,
            old.function(),
            old.trace(),
            old.tileProgram(),
            old.strategy() + ", overlapping launch",
            old.why() + "; " + why,
            old.stages()),
        call.arguments(),
        call.zeroed());
  }
}
