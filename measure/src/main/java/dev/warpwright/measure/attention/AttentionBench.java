package dev.warpwright.measure.attention;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.families.attention.AttentionConfig;
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
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs configurations of an attention on a GPU: each compiled, its whole result verified against
 * the definition in f64 before and after it is timed. One after the other is timed by itself and
 * told of at once, so that whoever is killed knows all that was measured; the fastest are then
 * timed in turn. Graphs go through several sets of inputs. All entries have all keys; ragged ones
 * are what {@code check} verifies.
 */
public final class AttentionBench {
  /** Operations of which the reference takes a minute or so. */
  private static final double MOST_VERIFIED = 4e11;

  /** Of a configuration by itself, which only tells who is timed again. */
  private static final int FIRST_ROUNDS = 3;

  /** So many are timed in turn. */
  private static final int FINALISTS = 6;

  /** Launches timed one by one, a round. */
  private static final int SINGLES = 2;

  private final Attention attention;
  private final Gpu gpu;
  private final GpuTarget target;
  private final int rounds;
  private final Consumer<Outcome> told;
  private final CudaStream stream;
  private final AttentionMemory memory;

  /**
   * A configuration's result.
   *
   * @param failure why it has no time; null if it has one
   * @param relError of its whole result; not a number if it has none
   * @param times of all its launches together; null if it has none
   * @param sourceHash of its kernels; empty if they were not printed
   */
  public record Outcome(
      AttentionWay way,
      @Nullable String failure,
      double relError,
      KernelReport.@Nullable Times times,
      String sourceHash) {
    /** The attention's. */
    public AttentionConfig config() {
      return way.config();
    }

    /** Microseconds of all launches in a graph; infinite if it has no time. */
    public double micros() {
      return times == null ? Double.POSITIVE_INFINITY : times.graphUs();
    }
  }

  /** One that is loaded and right. */
  private record Ready(AttentionWay way, LoadedAttention loaded, String sourceHash) {
    Outcome outcome(@Nullable String failure, KernelReport.@Nullable Times times, double error) {
      return new Outcome(way, failure, error, times, sourceHash);
    }
  }

  private AttentionBench(
      Attention attention,
      Gpu gpu,
      int rounds,
      Consumer<Outcome> told,
      CudaStream stream,
      AttentionMemory memory) {
    this.attention = attention;
    this.gpu = gpu;
    this.target = (GpuTarget) gpu.target();
    this.rounds = rounds;
    this.told = told;
    this.stream = stream;
    this.memory = memory;
  }

  /**
   * Runs.
   *
   * @param ways each of the attention's space, all with one result
   * @param seed of the random data
   * @param rounds of timing in turn, at least 5
   * @param progress is told what is going on
   * @param told of each outcome when it is known; of those timed in turn a second time
   * @return in the order of the ways
   * @throws UserError if the attention is too large to be verified
   * @throws DeviceError if the device is lost
   */
  public static List<Outcome> run(
      Attention attention,
      List<AttentionWay> ways,
      Gpu gpu,
      long seed,
      int rounds,
      Consumer<String> progress,
      Consumer<Outcome> told) {
    requireSmall(attention);
    CudaContext context = gpu.context();
    try (CompileAhead ahead = new CompileAhead(attention, ways, (GpuTarget) gpu.target());
        CudaStream stream = context.newStream();
        AttentionMemory memory =
            new AttentionMemory(
                attention,
                ways.getFirst(),
                ways.getFirst().make(attention, (GpuTarget) gpu.target()).program(),
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
      return new AttentionBench(attention, gpu, rounds, told, stream, memory).run(ways, ahead);
    }
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

  private List<Outcome> run(List<AttentionWay> ways, CompileAhead ahead) {
    Map<AttentionWay, Outcome> outcomes = new LinkedHashMap<>();
    List<Ready> fastest = new ArrayList<>();
    try {
      for (AttentionWay way : ways) {
        first(way, ahead.get(way), outcomes, fastest);
      }
      if (!fastest.isEmpty()) {
        for (Outcome outcome : timed(fastest, rounds)) {
          outcomes.put(outcome.way(), outcome);
          told.accept(outcome);
        }
      }
    } finally {
      fastest.forEach(each -> each.loaded().close());
    }
    return List.copyOf(outcomes.values());
  }

  /** Verifies and times one; it stays loaded where it is among the fastest. */
  private void first(
      AttentionWay way,
      Future<CompiledAttention> compiled,
      Map<AttentionWay, Outcome> outcomes,
      List<Ready> fastest) {
    Ready ready;
    try {
      ready = load(way, compiled);
    } catch (UserError | DeviceError | LoweringException e) {
      if (gpu.context().isLost()) {
        throw e;
      }
      Outcome failed = new Outcome(way, String.valueOf(e.getMessage()), Double.NaN, null, "");
      told.accept(failed);
      outcomes.put(way, failed);
      return;
    }
    fastest.add(ready);
    Outcome outcome;
    AttentionMemory.Error error = memory.error(ready.loaded().result(0));
    if (error.verified()) {
      outcome = timed(List.of(ready), FIRST_ROUNDS).getFirst();
    } else {
      outcome = ready.outcome(error.why(), null, error.relative());
    }
    told.accept(outcome);
    outcomes.put(way, outcome);
    fastest.sort(
        Comparator.comparingDouble(
            each -> Objects.requireNonNull(outcomes.get(each.way())).micros()));
    if (outcome.times() == null || fastest.size() > FINALISTS) {
      Ready slowest = outcome.times() == null ? ready : fastest.getLast();
      fastest.remove(slowest);
      slowest.loaded().close();
    }
  }

  /** Loads, and runs once. */
  private Ready load(AttentionWay way, Future<CompiledAttention> compiled) {
    CompiledAttention machineCode = CompileAhead.result(compiled);
    LoadedAttention loaded = new LoadedAttention(machineCode, memory, gpu.context(), stream);
    try {
      loaded.enqueue(0);
      stream.synchronize();
    } catch (DeviceError e) {
      loaded.close();
      throw e;
    }
    return new Ready(way, loaded, machineCode.sourceHash());
  }

  /** Times in turn, and verifies what the last launch has left. */
  private List<Outcome> timed(List<Ready> ready, int rounds) {
    int last = memory.count() - 1;
    ready.forEach(each -> each.loaded().poison(last));
    List<TimedWork> work =
        ready.stream().map(r -> new TimedWork(r.way().text(), r.loaded()::enqueue)).toList();
    List<KernelReport.Times> times =
        new InterleavedTimer(gpu.context(), stream, memory.count(), rounds, SINGLES).measure(work);
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < ready.size(); i++) {
      Ready each = ready.get(i);
      AttentionMemory.Error after = memory.error(each.loaded().result(last));
      outcomes.add(
          after.verified()
              ? plausible(each, times.get(i), after.relative())
              : each.outcome("timed: " + after.why(), null, after.relative()));
    }
    return outcomes;
  }

  /** A rate above the device's peak is an error, not a result. */
  private Outcome plausible(Ready each, KernelReport.Times times, double relError) {
    double peak = PeakRate.flops(gpu.context().device(), target, attention.precision());
    double flops = attention.flops() / (times.graphUs() * 1e-6);
    return flops > peak
        ? each.outcome(
            String.format(
                Locale.ROOT,
                "measured %.0f TFLOP/s, more than the device's peak of %.0f: %s",
                flops / 1e12,
                peak / 1e12,
                KernelReport.MISMEASURED),
            null,
            relError)
        : each.outcome(null, times, relError);
  }
}
