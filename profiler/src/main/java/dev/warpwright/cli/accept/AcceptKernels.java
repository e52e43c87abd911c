package dev.warpwright.cli.accept;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.tuned.GemmChooser;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.ir.Kernel;
import dev.warpwright.space.Candidate;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The kernels of an acceptance run, chosen and compiled on the cores that measuring leaves idle, in
 * the order in which they are measured.
 */
final class AcceptKernels implements AutoCloseable {
  private final Map<Asked, Future<Pair>> kernels = new LinkedHashMap<>();
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          Math.max(1, Runtime.getRuntime().availableProcessors() - 1),
          Thread.ofPlatform().daemon().factory());

  /**
   * A product.
   *
   * @param isUntuned whether records are ignored
   */
  record Asked(GemmWorkload workload, boolean isUntuned) {}

  /**
   * What is measured of a product.
   *
   * @param untuned the analytic model's choice; null if it is not asked for, or the same
   */
  record Pair(TunedGemm tuned, @Nullable Candidate untuned) {}

  AcceptKernels(List<AcceptanceFigure> figures, GpuTarget target, GemmChooser chooser) {
    Set<GemmWorkload> both = new HashSet<>();
    for (AcceptanceFigure figure : figures) {
      if (figure.of() == AcceptanceFigure.Ratio.UNTUNED) {
        both.addAll(figure.workloads());
      }
    }
    for (AcceptanceFigure figure : figures) {
      for (GemmWorkload workload : figure.workloads()) {
        kernels.computeIfAbsent(
            new Asked(workload, figure.isUntuned()),
            asked ->
                threads.submit(() -> prepare(asked, both.contains(workload), target, chooser)));
      }
    }
  }

  private static Pair prepare(Asked asked, boolean both, GpuTarget target, GemmChooser chooser) {
    GemmWorkload workload = asked.workload();
    TunedGemm tuned =
        asked.isUntuned() ? chooser.chooseUntuned(workload) : chooser.choose(workload);
    compile(tuned.candidate(), target);
    if (asked.isUntuned() || !both) {
      return new Pair(tuned, null);
    }
    Candidate untuned = chooser.chooseUntuned(workload).candidate();
    if (untuned.point().equals(tuned.candidate().point())) {
      return new Pair(tuned, null);
    }
    compile(untuned, target);
    return new Pair(tuned, untuned);
  }

  /** So that the compiler's cache has it. */
  private static void compile(Candidate candidate, GpuTarget target) {
    Kernel kernel = BoundKernel.of(candidate.kernel().get(), candidate.values()).kernel();
    CudaCompilers.compile(CudaPrinter.print(kernel, target), target);
  }

  /**
   * The kernels of a product, as soon as they are there.
   *
   * @throws RuntimeException what finding or compiling them threw
   */
  Pair get(Asked asked) {
    Future<Pair> kernel = kernels.get(asked);
    if (kernel == null) {
      throw new IllegalArgumentException("not asked for: " + asked);
    }
    try {
      return kernel.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
