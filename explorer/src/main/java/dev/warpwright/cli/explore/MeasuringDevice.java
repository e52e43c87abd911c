package dev.warpwright.cli.explore;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.measure.orders.ChainMeasurer;
import dev.warpwright.measure.orders.OrderMeasurer;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.target.GpuTarget;
import org.jspecify.annotations.Nullable;

/**
 * What the page can measure on.
 *
 * @param name of the device; null if there is none
 * @param why there is none; empty if there is one
 */
record MeasuringDevice(
    @Nullable String name, String why, OrderMeasurer measurer, ChainRunner chains) {
  /** Measures orders of two chained products. */
  @FunctionalInterface
  interface ChainRunner {
    /**
     * What the command {@code order measure N2=… --json} says, as JSON; null if it was cancelled.
     */
    @Nullable String measure(ChainMeasurer.Request request, OrderMeasurer.Watcher watcher);
  }

  /** The first GPU of this machine that code can be generated for. */
  static MeasuringDevice ofThisMachine() {
    try {
      CudaDriver driver = CudaDriver.find().orElse(null);
      if (driver == null) {
        return none(Devices.whyNoGpu());
      }
      for (CudaDevice device : driver.devices()) {
        if (GpuTarget.forCapability(device.major(), device.minor()).isPresent()) {
          var child = new ChildMeasurer();
          return new MeasuringDevice(device.name(), "", child, child::measureChain);
        }
      }
      return none("no GPU here for which code can be generated");
    } catch (DeviceError e) {
      return none(String.valueOf(e.getMessage()));
    }
  }

  /** Nothing to measure on. */
  static MeasuringDevice none(String why) {
    return new MeasuringDevice(
        null,
        why,
        (request, watcher) -> {
          throw new DeviceError(why);
        },
        (request, watcher) -> {
          throw new DeviceError(why);
        });
  }
}
