package dev.warpwright.cli.explore;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cli.devices.Devices;
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
record MeasuringDevice(@Nullable String name, String why, OrderMeasurer measurer) {
  /** The first GPU of this machine that code can be generated for. */
  static MeasuringDevice ofThisMachine() {
    try {
      CudaDriver driver = CudaDriver.find().orElse(null);
      if (driver == null) {
        return none(Devices.whyNoGpu());
      }
      for (CudaDevice device : driver.devices()) {
        if (GpuTarget.forCapability(device.major(), device.minor()).isPresent()) {
          return new MeasuringDevice(device.name(), "", new ChildMeasurer());
        }
      }
      return none("no GPU here for which code can be generated");
    } catch (DeviceError e) {
      return none(String.valueOf(e.getMessage()));
    }
  }

  private static MeasuringDevice none(String why) {
    return new MeasuringDevice(
        null,
        why,
        (request, watcher) -> {
          throw new DeviceError(why);
        });
  }
}
