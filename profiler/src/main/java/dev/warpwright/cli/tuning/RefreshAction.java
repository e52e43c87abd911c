package dev.warpwright.cli.tuning;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.measure.timing.Quantiles;
import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.GemmWorkload;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Verifies and times again what was recorded with another source, driver or compiler. Each outcome
 * is stored when it is there: a refresh that was ended goes on where it was.
 */
final class RefreshAction {
  private static final long SEED = 1;

  private final Supplier<Optional<TuningDevice>> device;
  private final Function<GpuTarget, Measurer> measurer;

  RefreshAction() {
    this(TuningDevice::look, target -> GemmTuning.measurer(target, SEED));
  }

  /** On another device. */
  RefreshAction(Supplier<Optional<TuningDevice>> device, Function<GpuTarget, Measurer> measurer) {
    this.device = device;
    this.measurer = measurer;
  }

  /** A record and what came of measuring it again. */
  private record Again(StaleRecords.Stale stale, Outcome outcome) {
    /** Its time today by its time then; NaN if there is none. */
    double ratio() {
      return outcome instanceof Outcome.Measured now
              && stale.record().outcome() instanceof Outcome.Measured then
          ? now.timeUs() / then.timeUs()
          : Double.NaN;
    }
  }

  /** Tells which records do not hold. */
  Report list(TuningDatabase database, int keep, Progress progress) {
    Optional<TuningDevice> here = device.get();
    if (here.isEmpty()) {
      progress.say("there is no GPU here: records are compared by their source alone");
    }
    List<StaleRecords.Stale> stale = StaleRecords.find(database, here, keep);
    List<String> lines = new ArrayList<>();
    stale.forEach(one -> lines.add(one.text()));
    lines.add(
        String.format(
            Locale.ROOT,
            "%d of %d records are untested as things are; 'db refresh' verifies and times them"
                + " again",
            stale.size(),
            looked(database, here, keep)));
    return new Report(
        true,
        String.join(System.lineSeparator(), lines.stream().map(OneLine::of).toList()),
        Json.object().with("stale", Json.array(stale, StaleRecords.Stale::json)));
  }

  private static long looked(TuningDatabase database, Optional<TuningDevice> here, int keep) {
    return GpuTarget.ALL.stream()
        .flatMap(target -> database.fastest(target.name(), keep).stream())
        .filter(record -> record.workload().kind().equals(GemmWorkload.KIND))
        .filter(
            record ->
                here.isEmpty()
                    || (record.environment().target().equals(here.get().target().name())
                        && record.environment().device().equals(here.get().name())))
        .count();
  }

  /**
   * Measures them.
   *
   * @param seconds after which no more is begun
   */
  Report refresh(TuningDatabase database, int keep, double seconds, Progress progress) {
    TuningDevice here =
        device
            .get()
            .orElseThrow(
                () ->
                    new DeviceError("no GPU here; db refresh measures on one, db stale does not"));
    try (DeviceQueue.Turn _ = here.turn("db refresh", progress)) {
      return refresh(database, here, keep, seconds, progress);
    }
  }

  private Report refresh(
      TuningDatabase database, TuningDevice here, int keep, double seconds, Progress progress) {
    long start = System.nanoTime();
    List<StaleRecords.Stale> stale = StaleRecords.find(database, Optional.of(here), keep);
    progress.say(stale.size() + " records to be verified and timed on " + here.name());
    List<Again> done = new ArrayList<>();
    int wanted = stale.size();
    try (Measurer workers = measurer.apply(here.target())) {
      Deque<StaleRecords.Stale> left = new ArrayDeque<>(stale);
      Deque<Pending> pending = new ArrayDeque<>();
      while (!left.isEmpty() || !pending.isEmpty()) {
        boolean more = (System.nanoTime() - start) * 1e-9 < seconds;
        while (more && !left.isEmpty() && pending.size() < workers.width()) {
          StaleRecords.Stale one = left.removeFirst();
          pending.addLast(new Pending(one, begin(one, workers)));
        }
        if (pending.isEmpty()) {
          break;
        }
        Pending first = pending.removeFirst();
        Result result = first.result().get();
        database.add(
            new TuningRecord(
                first.stale().record().workload(),
                here.environment(),
                first.stale().record().point(),
                result.sourceHash(),
                result.outcome(),
                Instant.now()));
        Again again = new Again(first.stale(), result.outcome());
        done.add(again);
        progress.say(String.format(Locale.ROOT, "%d of %d  %s", done.size(), wanted, text(again)));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted; what was measured is kept, the same command goes on");
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
    }
    return report(wanted, done);
  }

  /** The promise of a source hash and an outcome. */
  private record Pending(StaleRecords.Stale stale, CompletableFuture<Result> result) {}

  private record Result(String sourceHash, Outcome outcome) {}

  private static CompletableFuture<Result> begin(StaleRecords.Stale stale, Measurer workers) {
    return stale.candidate() == null
        ? CompletableFuture.completedFuture(
            new Result("", new Outcome.Failed(FailureReason.REJECTED, stale.reason())))
        : workers
            .measure(stale.candidate())
            .thenApply(trial -> new Result(trial.sourceHash(), trial.outcome()));
  }

  private static String text(Again again) {
    String what = again.stale().record().workload().text() + ": ";
    return switch (again.outcome()) {
      case Outcome.Measured now ->
          what
              + String.format(
                  Locale.ROOT,
                  "%.2f us, %.3f of what was recorded (%s)",
                  now.timeUs(),
                  again.ratio(),
                  again.stale().reason());
      case Outcome.Failed failed ->
          what + failed.reason().text() + ": " + OneLine.of(failed.message());
    };
  }

  private static Report report(int wanted, List<Again> done) {
    List<Again> failed =
        done.stream().filter(again -> again.outcome() instanceof Outcome.Failed).toList();
    boolean wrong =
        failed.stream()
            .anyMatch(
                again ->
                    again.outcome() instanceof Outcome.Failed f
                        && f.reason() == FailureReason.WRONG);
    Quantiles ratios =
        Quantiles.of(
            done.stream()
                .mapToDouble(Again::ratio)
                .filter(ratio -> !Double.isNaN(ratio))
                .toArray());
    List<String> lines = new ArrayList<>();
    failed.forEach(again -> lines.add(text(again)));
    lines.add(
        String.format(
            Locale.ROOT,
            "%d of %d records verified and timed again, %d of them failed; times by those recorded:"
                + " median %.3f (quartiles %.3f-%.3f)",
            done.size(),
            wanted,
            failed.size(),
            ratios.median(),
            ratios.low(),
            ratios.high()));
    if (done.size() < wanted) {
      lines.add("the time was up; the same command goes on");
    }
    return new Report(
        !wrong,
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("stale", wanted)
            .with("measured", done.size())
            .with("failed", failed.size())
            .with("medianRatio", ratios.median())
            .with(
                "records",
                Json.array(
                    done,
                    again ->
                        ((Json.Members) again.stale().json())
                            .with("ratio", again.ratio())
                            .with(
                                "failure",
                                again.outcome() instanceof Outcome.Failed f
                                    ? f.reason().text() + ": " + f.message()
                                    : null))));
  }
}
