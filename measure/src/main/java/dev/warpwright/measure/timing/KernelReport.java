package dev.warpwright.measure.timing;

import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What came out of running a kernel.
 *
 * @param workload kind, shape and type
 * @param seed of the random data
 * @param relError ‖out − reference‖ / ‖reference‖ over the whole result; infinite if an element is
 *     not finite, NaN if the kernel was not run
 * @param failure one line that says why there are no figures; null if all is well
 * @param timing null unless the result is right and timing was asked for
 * @param baselines others that computed the same inputs, in the same run
 * @param excluded others that did, but not as precisely as they would have to
 * @param baselineKernels other kernels of ours that did
 * @param repeats what launching again and again showed
 */
public record KernelReport(
    String workload,
    String target,
    String device,
    long seed,
    double relError,
    double tolerance,
    double maxAbsError,
    @Nullable String failure,
    Compiled compiled,
    @Nullable Timing timing,
    List<Baseline> baselines,
    List<Excluded> excluded,
    List<BaselineKernel> baselineKernels,
    List<Repeats> repeats) {
  /** The end of a {@link #failure} that is no fault of the kernel. */
  public static final String MISMEASURED = "the measurement is wrong";

  /**
   * What the compiler says of the kernel.
   *
   * @param sourceHash SHA-256 of the printed source
   * @param sharedBytes of a block, static and dynamic
   * @param spills bytes of spill stores and loads
   */
  public record Compiled(
      String sourceHash,
      int registers,
      int sharedBytes,
      int localBytes,
      int spills,
      List<String> warnings) {
    public Compiled {
      warnings = List.copyOf(warnings);
    }
  }

  /**
   * How long a launch takes.
   *
   * @param graph mean of launches back to back in a replayed graph, over the rounds
   * @param launchUs from one event to the next around a single launch, the median of all; NaN if it
   *     is not known
   */
  public record Times(Quantiles graph, double launchUs) {
    /** The median of the rounds. */
    public double graphUs() {
      return graph.median();
    }
  }

  /**
   * Speed.
   *
   * @param gbps of the bytes that must move at least
   * @param expected by the analytic model, and below which no kernel for this workload gets at the
   *     device's highest clock
   * @param sets of inputs and outputs that launches went through in turn
   */
  public record Timing(
      Times times, double tflops, double gbps, Prediction expected, int sets, int rounds) {}

  /**
   * A baseline.
   *
   * @param ratio its time by ours: above 1 we are faster
   */
  public record Baseline(String name, Times times, double ratio) {}

  /**
   * A library that is faster or slower but no baseline: its result misses the tolerance that ours
   * has to keep. It is told with its figures and counts for nobody.
   *
   * @param ratio its time by ours: below 1 it is faster
   * @param relError of its result
   */
  public record Excluded(String name, Times times, double ratio, double relError) {}

  /**
   * Another kernel of ours.
   *
   * @param timeUs of a launch in a graph; NaN if it has none
   * @param ratio its time by that of this kernel: above 1 this one is faster
   * @param failure one line that says why there is no time; null if there is one
   */
  public record BaselineKernel(
      String name, double timeUs, double ratio, @Nullable String failure) {}

  /**
   * Many launches on the same input.
   *
   * @param mode how they were launched
   * @param mismatches elements, or words of them, that differed from the verified result
   */
  public record Repeats(String mode, int runs, long mismatches) {}

  public KernelReport {
    baselines = List.copyOf(baselines);
    excluded = List.copyOf(excluded);
    baselineKernels = List.copyOf(baselineKernels);
    repeats = List.copyOf(repeats);
  }

  /** With one more baseline, which was measured elsewhere. */
  public KernelReport withBaseline(Baseline baseline) {
    List<Baseline> more = new ArrayList<>(baselines);
    more.add(baseline);
    return with(more, excluded, baselineKernels);
  }

  /** With other kernels of ours in place of those that there are. */
  public KernelReport withBaselineKernels(List<BaselineKernel> others) {
    return with(baselines, excluded, others);
  }

  /** With libraries that are left out for their error in place of those that there are. */
  public KernelReport withExcluded(List<Excluded> others) {
    return with(baselines, others, baselineKernels);
  }

  private KernelReport with(
      List<Baseline> newBaselines, List<Excluded> newExcluded, List<BaselineKernel> newKernels) {
    return new KernelReport(
        workload,
        target,
        device,
        seed,
        relError,
        tolerance,
        maxAbsError,
        failure,
        compiled,
        timing,
        newBaselines,
        newExcluded,
        newKernels,
        repeats);
  }

  public boolean verified() {
    return failure == null;
  }

  /** Why another kernel is to be used; empty if nothing is known against this one. */
  public Optional<Outcome.Failed> problem() {
    if (failure == null || failure.endsWith(MISMEASURED)) {
      return Optional.empty();
    }
    // Without an error it has not been run: its machine code is no good.
    FailureReason reason = Double.isNaN(relError) ? FailureReason.SPILL : FailureReason.WRONG;
    return Optional.of(new Outcome.Failed(reason, failure));
  }
}
