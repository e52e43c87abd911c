package dev.warpwright.cli.explore;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.orders.ChainMeasureRequest;
import dev.warpwright.cli.orders.MeasureAction;
import dev.warpwright.cli.orders.MeasureRequest;
import dev.warpwright.explorer.Jobs;
import dev.warpwright.measure.orders.OrderMeasurement;
import dev.warpwright.measure.orders.OrderMeasurer;
import dev.warpwright.measure.orders.RecordedOrders;
import dev.warpwright.perf.predict.Part.GemmShape;
import java.util.List;

/** Measuring on this machine's GPU, and what was recorded on another: as the page asks for them. */
final class MeasureEndpoints {
  private final MeasuringDevice device;
  private final RecordedOrders recorded;
  private final Jobs jobs;

  MeasureEndpoints(MeasuringDevice device, RecordedOrders recorded, Jobs jobs) {
    this.device = device;
    this.recorded = recorded;
    this.jobs = jobs;
  }

  /** Whether there is a GPU to measure on, and what is recorded. */
  Json gpu() {
    return Json.object()
        .with("gpu", device.name())
        .with("why", device.why())
        .with(
            "recorded",
            Json.array(
                recorded.all().stream().map(OrderMeasurement::shape).distinct().toList(),
                shape ->
                    Json.object()
                        .with("M", shape.m())
                        .with("N", shape.n())
                        .with("K", shape.k())
                        .with("dtype", shape.type().text())));
  }

  /** What is recorded of a shape, with timelines. */
  Json recorded(GemmShape shape) {
    return MeasureAction.json(
        recorded.all().stream().filter(m -> m.shape().equals(shape)).toList());
  }

  /**
   * Starts to measure; gives the job's number.
   *
   * @param counters whether to count by Nsight Compute
   */
  long measure(KeyValues values, boolean counters) {
    if (device.name() == null) {
      throw new DeviceError(device.why());
    }
    if (values.text("N2") != null) {
      return measureChain(ChainMeasureRequest.of(values, counters, null));
    }
    MeasureRequest request =
        MeasureRequest.of(values, counters, new MeasureRequest.Files(null, null, null));
    if (request.from() != MeasureRequest.From.GPU) {
      throw new UserError("from: the page measures on the GPU");
    }
    return jobs.start(
        "measure",
        job -> {
          List<OrderMeasurement> measured = device.measurer().measure(request.what(), watcher(job));
          return MeasureAction.json(measured).with("cancelled", job.cancelled()).write();
        });
  }

  private long measureChain(ChainMeasureRequest request) {
    if (request.from() != ChainMeasureRequest.From.GPU) {
      throw new UserError("from: the page measures on the GPU");
    }
    return jobs.start(
        "measure",
        job -> {
          String measured = device.chains().measure(request.what(), watcher(job));
          return measured == null ? Json.object().with("cancelled", true).write() : measured;
        });
  }

  private static OrderMeasurer.Watcher watcher(Jobs.Job job) {
    return new OrderMeasurer.Watcher() {
      @Override
      public boolean cancelled() {
        return job.cancelled();
      }

      @Override
      public void say(String line) {
        job.report(Json.of(line).write());
      }
    };
  }
}
