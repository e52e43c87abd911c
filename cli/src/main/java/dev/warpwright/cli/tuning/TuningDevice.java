package dev.warpwright.cli.tuning;

import dev.warpwright.cli.command.Version;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.devices.Toolkit;
import dev.warpwright.compiler.tune.GemmTuning;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.record.Environment;
import java.util.Optional;

/** The GPU of this machine, without a context of its own, and how records name it. */
public record TuningDevice(
    String name, int multiprocessors, GpuTarget target, Environment environment) {
  static TuningDevice find() {
    if (CudaDriver.find().isEmpty()) {
      throw new DeviceError(Devices.whyNoGpu() + "; tune and perf measure on a GPU");
    }
    return look()
        .orElseThrow(
            () -> new DeviceError("no GPU here is of a kind that kernels can be generated for"));
  }

  /** As {@link #find}, if there is one. */
  public static Optional<TuningDevice> look() {
    Optional<CudaDriver> driver = CudaDriver.find();
    if (driver.isEmpty()) {
      return Optional.empty();
    }
    for (CudaDevice device : driver.get().devices()) {
      var target = GpuTarget.forCapability(device.major(), device.minor());
      if (target.isPresent()) {
        return Optional.of(
            new TuningDevice(
                device.name(),
                device.multiprocessors(),
                target.get(),
                GemmTuning.environment(
                    target.get(), device, Toolkit.version(), Version.current().version())));
      }
    }
    return Optional.empty();
  }
}
