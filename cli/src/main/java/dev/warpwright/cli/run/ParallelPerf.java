package dev.warpwright.cli.run;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.networks.NetworkRequest;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Reports;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/** Measures networks: those that GPUs share as {@code run} does, all others as given. */
public final class ParallelPerf implements Action<NetworkRequest> {
  private final Action<NetworkRequest> alone;

  /**
   * An action.
   *
   * @param alone for networks on one GPU
   */
  public ParallelPerf(Action<NetworkRequest> alone) {
    this.alone = alone;
  }

  @Override
  public Report perform(NetworkRequest request, Progress progress) {
    if (request.gpus() == null) {
      return alone.perform(request, progress);
    }
    List<Report> reports = new ArrayList<>();
    for (NetworkTask task : request.tasks()) {
      ModelRequest model =
          new ModelRequest(
              Path.of(task.what()),
              TargetName.AUTO,
              null,
              task.precision(),
              OptionalInt.of(task.rows()),
              null,
              task,
              request.gpus());
      reports.add(
          new RunAction()
              .perform(
                  new RunRequest(
                      model,
                      null,
                      task.seed(),
                      new OutputFiles("--expect", List.of()),
                      new Output(new OutputFiles("--out", List.of()), null),
                      OptionalDouble.empty(),
                      OptionalDouble.empty(),
                      0.1),
                  progress));
    }
    return reports.size() == 1 ? reports.getFirst() : Reports.many(reports);
  }
}
