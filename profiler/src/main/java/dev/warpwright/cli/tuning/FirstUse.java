package dev.warpwright.cli.tuning;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.tune.Tuner;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.GemmWorkload;
import java.util.Collection;
import java.util.List;

/**
 * Times what the analytic model and the nearest records propose for GEMMs that nobody has measured
 * on this device, a few kernels each: the fastest is a record from then on, as if {@code tune} had
 * stopped early.
 */
final class FirstUse {
  /** The model's three best, and two of the nearest workloads' fastest or the model's next. */
  private static final Tuner.Limits FEW = new Tuner.Limits(5, 2);

  private static final GemmTuning.Options OPTIONS =
      new GemmTuning.Options(FEW, GemmTuning.Search.EVOLUTION, false, false, true, 1);

  private FirstUse() {}

  /**
   * Measures those of the GEMMs that have no time here; worker processes start only if there are
   * any. One whose kernels all fail stays without a record of a time, and is used as ever.
   *
   * @throws DeviceError if interrupted; what was measured is kept
   */
  static void measure(
      Collection<GemmWorkload> workloads,
      TuningDevice here,
      TuneAction.Workers workers,
      TuningDatabase database,
      Progress progress) {
    List<GemmWorkload> unknown =
        workloads.stream()
            .distinct()
            .filter(workload -> !isKnown(workload, here, database))
            .toList();
    if (unknown.isEmpty()) {
      return;
    }
    try (Measurer measurer = workers.start(here.target(), 1).getFirst()) {
      measurer.open();
      for (GemmWorkload workload : unknown) {
        TuningView view = new TuningView(workload, FEW.seconds(), progress);
        Tuner tuner =
            GemmTuning.tuner(
                workload,
                here.environment(),
                here.sms(),
                measurer,
                () -> database,
                OPTIONS,
                view::show);
        progress.say(
            workload.key() + ": first use on " + here.name() + ", a few kernels are timed");
        tuner.run(FEW);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted; what was measured is kept");
    }
  }

  private static boolean isKnown(
      GemmWorkload workload, TuningDevice here, TuningDatabase database) {
    return database.records(workload.key(), here.environment()).stream()
        .anyMatch(record -> record.outcome() instanceof Outcome.Measured);
  }
}
