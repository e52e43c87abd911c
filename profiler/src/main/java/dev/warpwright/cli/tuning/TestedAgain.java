package dev.warpwright.cli.tuning;

import dev.warpwright.families.tuned.RecordCheck;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.workload.GemmWorkload;
import java.time.Instant;

/**
 * Kernels whose record was made with another source, driver, compiler or device, and which were
 * verified and timed here: what came of it is recorded, so that from now on they are tuned, or
 * known to fail. Of other kernels a record is there already, or is made by tuning.
 *
 * @param database that takes it
 */
public record TestedAgain(TuningDevice here, TuningDatabase database) {
  /** A kernel that was verified; nothing is recorded of one without a time. */
  public void measured(GemmWorkload workload, TunedGemm kernel, KernelReport report) {
    KernelReport.Timing timing = report.timing();
    if (timing != null) {
      KernelReport.Times times = timing.times();
      store(
          workload,
          kernel,
          new Outcome.Measured(
              times.graphUs(), times.graph().relativeSpread(), report.relError(), 0, 0));
    }
  }

  /** A kernel that computes wrongly or cannot run. */
  public void failed(GemmWorkload workload, TunedGemm kernel, Outcome.Failed failure) {
    store(workload, kernel, failure);
  }

  private void store(GemmWorkload workload, TunedGemm kernel, Outcome outcome) {
    if (kernel.origin() == TunedGemm.Origin.UNTESTED) {
      database.add(
          new TuningRecord(
              workload.key(),
              here.environment(),
              kernel.candidate().point(),
              RecordCheck.sourceHash(kernel.candidate(), here.target()),
              outcome,
              Instant.now()));
    }
  }
}
