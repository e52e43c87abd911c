package dev.warpwright.measure.attention;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionKernels;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.measure.PeakRate;
import dev.warpwright.measure.timing.InterleavedTimer;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.measure.timing.TimedWork;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs configurations of an attention on a GPU: each compiled, its whole result verified against
 * the definition in f64 before and after it is timed, and all of them timed in turn in graphs that
 * go through several sets of inputs. All entries have all keys; ragged ones are what {@code check}
 * verifies.
 */
public final class AttentionBench {
  /** Operations of which the reference takes a minute or so. */
  private static final double MOST_VERIFIED = 4e11;

  /** Launches timed one by one, a round: few, for configurations may be many. */
  private static final int SINGLES = 2;

  private final Attention attention;
  private final Gpu gpu;
  private final GpuTarget target;
  private final long seed;
  private final int rounds;
  private final Consumer<String> progress;

  /**
   * A configuration's result.
   *
   * @param failure why it has no time; null if it has one
   * @param relError of its whole result; not a number if it has none
   * @param times of all its launches together; null if it has none
   */
  public record Outcome(
      AttentionConfig config,
      @Nullable String failure,
      double relError,
      KernelReport.@Nullable Times times) {
    /** Microseconds of all launches in a graph; infinite if it has no time. */
    public double micros() {
      return times == null ? Double.POSITIVE_INFINITY : times.graphUs();
    }

    private static Outcome failed(AttentionConfig config, String why, double relError) {
      return new Outcome(config, why, relError, null);
    }
  }

  /** One that is loaded and right, waiting for its turn. */
  private record Ready(AttentionConfig config, LoadedAttention loaded, double relError) {}

  private AttentionBench(
      Attention attention, Gpu gpu, long seed, int rounds, Consumer<String> progress) {
    this.attention = attention;
    this.gpu = gpu;
    this.target = (GpuTarget) gpu.target();
    this.seed = seed;
    this.rounds = rounds;
    this.progress = progress;
  }

  /**
   * Runs.
   *
   * @param configs each of the attention's space
   * @param seed of the random data
   * @param rounds of timing, at least 5
   * @param progress is told what is going on
   * @return in the order of the configurations
   * @throws UserError if the attention is too large to be verified
   * @throws DeviceError if the device is lost
   */
  public static List<Outcome> run(
      Attention attention,
      List<AttentionConfig> configs,
      Gpu gpu,
      long seed,
      int rounds,
      Consumer<String> progress) {
    requireSmall(attention);
    return new AttentionBench(attention, gpu, seed, rounds, progress).run(configs);
  }

  /**
   * Checks that a result can be verified in a minute or so.
   *
   * @throws UserError if it cannot
   */
  public static void requireSmall(Attention attention) {
    if (attention.flops() > MOST_VERIFIED) {
      throw new UserError(
          attention.text() + " is too much to verify; give fewer keys S, tokens T or heads HQ");
    }
  }

  private List<Outcome> run(List<AttentionConfig> configs) {
    CudaContext context = gpu.context();
    List<Outcome> outcomes = new ArrayList<>();
    List<Ready> ready = new ArrayList<>();
    try (CudaStream stream = context.newStream();
        AttentionMemory memory =
            new AttentionMemory(
                attention,
                AttentionKernels.of(attention, configs.getFirst(), target).program(),
                seed,
                context,
                stream)) {
      progress.accept(
          String.format(
              Locale.ROOT,
              "%s on %s, seed %d, %d sets of inputs",
              attention.text(),
              gpu.name(),
              seed,
              memory.count()));
      try {
        for (AttentionConfig config : configs) {
          outcomes.add(load(config, memory, stream, ready));
        }
        times(memory, stream, ready, outcomes);
      } finally {
        ready.forEach(each -> each.loaded().close());
      }
    }
    return outcomes;
  }

  /** Its outcome, which is a failure, or a place for one that gets its time later. */
  private Outcome load(
      AttentionConfig config, AttentionMemory memory, CudaStream stream, List<Ready> ready) {
    LoadedAttention loaded;
    try {
      AttentionKernels kernels = AttentionKernels.of(attention, config, target);
      loaded = new LoadedAttention(kernels, memory, gpu.context(), stream);
    } catch (UserError | DeviceError | LoweringException e) {
      return failed(config, e);
    }
    AttentionMemory.Error error;
    try {
      loaded.enqueue(0);
      error = memory.error(loaded.result(0));
    } catch (DeviceError e) {
      loaded.close();
      return failed(config, e);
    }
    progress.accept(
        String.format(
            Locale.ROOT,
            "%s: relative error %.2e %s",
            config.text(),
            error.relative(),
            error.why()));
    if (!error.verified()) {
      loaded.close();
      return Outcome.failed(config, error.why(), error.relative());
    }
    ready.add(new Ready(config, loaded, error.relative()));
    return Outcome.failed(config, "not timed", error.relative());
  }

  private Outcome failed(AttentionConfig config, RuntimeException e) {
    if (gpu.context().isLost()) {
      throw e;
    }
    progress.accept(config.text() + ": " + e.getMessage());
    return Outcome.failed(config, String.valueOf(e.getMessage()), Double.NaN);
  }

  private void times(
      AttentionMemory memory, CudaStream stream, List<Ready> ready, List<Outcome> outcomes) {
    int last = memory.count() - 1;
    ready.forEach(each -> each.loaded().poison(last));
    List<TimedWork> work =
        ready.stream().map(r -> new TimedWork(r.config().text(), r.loaded()::enqueue)).toList();
    List<KernelReport.Times> times =
        new InterleavedTimer(gpu.context(), stream, memory.count(), rounds, SINGLES).measure(work);
    for (int i = 0; i < ready.size(); i++) {
      Ready each = ready.get(i);
      AttentionMemory.Error after = memory.error(each.loaded().result(last));
      Outcome outcome =
          after.verified()
              ? plausible(each, times.get(i), Math.max(each.relError(), after.relative()))
              : Outcome.failed(each.config(), "timed: " + after.why(), after.relative());
      outcomes.replaceAll(o -> o.config().equals(each.config()) ? outcome : o);
    }
  }

  /** A rate above the device's peak is an error, not a result. */
  private Outcome plausible(Ready each, KernelReport.Times times, double relError) {
    double peak = PeakRate.flops(gpu.context().device(), target, attention.precision());
    double flops = attention.flops() / (times.graphUs() * 1e-6);
    return flops > peak
        ? Outcome.failed(
            each.config(),
            String.format(
                Locale.ROOT,
                "measured %.0f TFLOP/s, more than the device's peak of %.0f: %s",
                flops / 1e12,
                peak / 1e12,
                KernelReport.MISMEASURED),
            relError)
        : new Outcome(each.config(), null, relError, times);
  }
}
