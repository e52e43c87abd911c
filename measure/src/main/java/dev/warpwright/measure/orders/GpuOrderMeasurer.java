package dev.warpwright.measure.orders;

import dev.warpwright.base.DeviceError;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.measure.OrderBench;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Measures on the first GPU of this machine. */
public final class GpuOrderMeasurer implements OrderMeasurer {
  private static final int SECTOR = 32;

  @Override
  public List<OrderMeasurement> measure(Request request, Watcher watcher) {
    List<OrderMeasurement> measured = new ArrayList<>();
    OrderKernels.checkType(request.shape().type());
    try (Gpu device = Gpu.find().orElseThrow(GpuOrderMeasurer::missing)) {
      List<Kernel> kernels =
          LaunchOrders.kernels(
              request, (GpuTarget) device.target(), device.context().device().sms());
      watcher.say(
          String.format(
              Locale.ROOT,
              "%s on %s: %d kernels, random data",
              request.shape().text(),
              device.name(),
              kernels.size()));
      try (var bench = new OrderBench(kernels.getFirst(), device, request.seed())) {
        for (Tiling tiling : request.tilings()) {
          for (BlockOrder order : request.orders()) {
            if (watcher.cancelled()) {
              return measured;
            }
            watcher.say(String.format(Locale.ROOT, "%s, %s", tiling.text(), order.label()));
            measured.add(
                measurement(
                    request,
                    tiling,
                    order,
                    device.name(),
                    bench.measure(kernels.get(measured.size())),
                    watcher));
          }
        }
      }
    }
    return request.counterSeconds() > 0 ? counted(request, measured, watcher) : measured;
  }

  private static DeviceError missing() {
    String why =
        CudaDriver.find().isEmpty()
            ? CudaDriver.whyMissing()
            : "no GPU here for which code can be generated";
    return new DeviceError(why + "; from=recorded shows what an H200 said");
  }

  private static OrderMeasurement measurement(
      Request request,
      Tiling tiling,
      BlockOrder order,
      String device,
      OrderBench.Result result,
      Watcher watcher) {
    boolean right = result.failure() == null;
    return new OrderMeasurement(
        request.shape(),
        tiling,
        order,
        OrderKernels.name(tiling),
        device,
        LocalDate.now(ZoneOffset.UTC).toString(),
        right ? new OrderMeasurement.Times(result.timeUs(), result.spread()) : null,
        result.relError(),
        result.failure(),
        null,
        right ? timeline(result.records(), tiling, watcher) : null);
  }

  private static @Nullable Timeline timeline(long[] records, Tiling tiling, Watcher watcher) {
    try {
      return Timeline.of(Timeline.Unit.NS, records, tiling.sms());
    } catch (IllegalStateException e) {
      watcher.say("no timeline: " + e.getMessage());
      return null;
    }
  }

  /** Adds counters; says why there are none. */
  private static List<OrderMeasurement> counted(
      Request request, List<OrderMeasurement> measured, Watcher watcher) {
    watcher.say(String.format(Locale.ROOT, "Nsight Compute counts %d launches", measured.size()));
    List<Map<String, Double>> launches;
    try {
      launches =
          NsightCompute.count(
              LaunchOrders.command(request),
              LaunchOrders.KERNELS,
              request.counterSeconds(),
              watcher::cancelled);
    } catch (DeviceError e) {
      watcher.say(String.valueOf(e.getMessage()));
      return measured;
    }
    List<OrderMeasurement> counted = new ArrayList<>();
    for (int i = 0; i < measured.size(); i++) {
      counted.add(measured.get(i).with(i < launches.size() ? counters(launches.get(i)) : null));
    }
    return counted;
  }

  /** Of one launch. */
  static OrderMeasurement.Counters counters(Map<String, Double> launch) {
    double sectors = launch.getOrDefault(NsightCompute.L2_SECTORS, 0.0);
    return new OrderMeasurement.Counters(
        launch.getOrDefault(NsightCompute.TIME, 0.0) / 1e3,
        launch.getOrDefault(NsightCompute.DRAM_READ, 0.0),
        launch.getOrDefault(NsightCompute.DRAM_WRITE, 0.0),
        sectors * SECTOR,
        sectors == 0 ? 1 : launch.getOrDefault(NsightCompute.L2_HITS, 0.0) / sectors);
  }
}
