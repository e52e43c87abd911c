package dev.warpwright.cli.kernels;

import dev.warpwright.cli.output.Report;
import dev.warpwright.verify.CheckOptions;
import dev.warpwright.verify.CheckReport;
import dev.warpwright.verify.Checks;
import java.util.List;
import java.util.OptionalInt;

/** Runs programs in text in the simulator and tells what they do that they must not. */
final class KernelSimulation {
  private static final int SCHEDULES = 3;

  private KernelSimulation() {}

  static Report report(KernelRequest request, KernelFile file) {
    CheckOptions options =
        new CheckOptions(
            request.seed(), SCHEDULES, OptionalInt.empty(), request.values(), request.batch());
    List<CheckReport> reports =
        CheckSubjects.of(file, request.attributes()).stream()
            .flatMap(subject -> Checks.check(subject, options).stream())
            .toList();
    return CheckAction.report(
        reports, request.seed(), "simulated", KernelAction.json(request, file));
  }
}
