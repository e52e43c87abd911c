package dev.warpwright.cli.explore;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.tuning.TuningFiles;
import dev.warpwright.explorer.Explorer;
import dev.warpwright.explorer.Jobs;
import dev.warpwright.measure.orders.RecordedOrders;
import java.util.concurrent.CountDownLatch;

/** Serves the page until it is interrupted. */
public final class ExploreAction implements Action<ExploreRequest> {
  @Override
  public Report perform(ExploreRequest request, Progress progress) {
    try (var jobs = new Jobs();
        Explorer explorer = start(request, jobs)) {
      progress.say("the page is at " + explorer.address() + " - Ctrl-C ends it");
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return new Report(true, "", Json.object().with("ended", true));
  }

  /** Starts the server with all that the page asks for. */
  static Explorer start(ExploreRequest request, Jobs jobs) {
    return start(request, jobs, MeasuringDevice.ofThisMachine(), new RecordedOrders());
  }

  /** As above, with another device to measure on, and other records. */
  static Explorer start(
      ExploreRequest request, Jobs jobs, MeasuringDevice device, RecordedOrders recorded) {
    var endpoints =
        new ExploreEndpoints(
            new KernelFolder(request.kernels()),
            new TuningRuns(request.database()),
            new TunedKernels(TuningFiles.dataFolder().resolve("tuned")),
            new MeasureEndpoints(device, recorded, jobs),
            jobs);
    return Explorer.start(request.port(), endpoints.readers(), endpoints.actors());
  }
}
